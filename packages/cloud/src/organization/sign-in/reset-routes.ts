import { LookAtReset, PasswordIsReset, ResetPassword, SeenReset, sessionRoutes } from "@downlink/protocol";
import type { Hono } from "hono";
import { z } from "zod";
import type { Env } from "../../calls/connections/env.ts";
import type { Deps } from "../../calls/context/context.ts";
import { noteOrWarn } from "../../recovery/note-entries.ts";
import { lookAtReset, resetPassword } from "./reset-password.ts";
import { readFromOwnPage, strangerOf } from "./session-routes.ts";

/** Serves who holds a link for a new password. No session begins: they sign in with it. */
export function resetRoutesOf(app: Hono<Env>, deps: Deps): void {
  app.post(sessionRoutes.lookAtReset.path, async (c) => {
    const { token } = await readFromOwnPage(c, deps, LookAtReset);
    const seen = await lookAtReset(strangerOf(c, deps), token);
    c.header("Cache-Control", "no-store");
    return c.json(z.encode(SeenReset, seen));
  });
  app.post(sessionRoutes.reset.path, async (c) => {
    const given = await readFromOwnPage(c, deps, ResetPassword);
    const reset = await resetPassword(strangerOf(c, deps), given);
    await noteOrWarn(deps); // a restore does not bring the old password back
    c.header("Cache-Control", "no-store");
    return c.json(z.encode(PasswordIsReset, reset));
  });
}
