import {
  AcceptInvitation,
  BegunSession,
  type EndedSession,
  LookAtInvitation,
  SeenInvitation,
  SignIn,
  type SignInWays,
  sessionRoutes,
} from "@downlink/protocol";
import type { Context, Hono } from "hono";
import { z } from "zod";
import type { Env } from "../../calls/connections/env.ts";
import { addressOf } from "../../calls/connections/limit-rates.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import type { Deps } from "../../calls/context/context.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { requireJson, requireOwnOrigin, sessionCookie, setCookie } from "../../calls/serve/session-cookie.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findSession } from "../../process/credentials/find-session.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { noteOrWarn } from "../../recovery/note-entries.ts";
import { type NewSession, SESSION_SECONDS } from "../members/begin-session.ts";
import { endSession } from "../members/session-entries.ts";
import { takeFailure } from "./failed-sign-in.ts";
import type { Stranger } from "./join.ts";
import { acceptInvitation, lookAtInvitation, signIn } from "./sign-in.ts";

/** Serves the calls that begin and end the session of a browser. They set a cookie, and each needs the Origin of our own pages. */
export function sessionRoutesOf(app: Hono<Env>, deps: Deps): void {
  let accounts = false; // once there is one, strangers cost no query
  app.get(sessionRoutes.ways.path, async (c) => {
    const { takesPasswords: passwords, provider } = deps.signIns;
    accounts ||= (await deps.db.prisma.account.findFirst({ select: { id: true } })) !== null;
    const ways = { passwords, oidc: provider !== undefined, accounts, signedIn: await isSignedIn(c, deps) };
    const failure = takeFailure(c, deps);
    c.header("Cache-Control", "no-store");
    return c.json({ ...ways, ...(failure && { failure }) } satisfies z.input<typeof SignInWays>);
  });
  app.post(sessionRoutes.begin.path, async (c) => {
    const given = await readFromOwnPage(c, deps, SignIn);
    return answer(c, deps, await signIn(strangerOf(c, deps), given));
  });
  app.post(sessionRoutes.look.path, async (c) => {
    const { token } = await readFromOwnPage(c, deps, LookAtInvitation);
    const seen = await lookAtInvitation(strangerOf(c, deps), token);
    c.header("Cache-Control", "no-store");
    return c.json(z.encode(SeenInvitation, seen));
  });
  app.post(sessionRoutes.accept.path, async (c) => {
    const given = await readFromOwnPage(c, deps, AcceptInvitation);
    const begun = await acceptInvitation(strangerOf(c, deps), given);
    await noteOrWarn(deps); // a restore does not bring the invitation back
    return answer(c, deps, begun);
  });
  app.delete(sessionRoutes.end.path, async (c) => {
    requireOwnOrigin(c.req.raw.headers, deps);
    const token = sessionCookie(c.req.raw.headers, deps);
    if (token) await withTransaction(deps.db, (tx) => endSession(tx, strangerOf(c, deps), token));
    c.header("Set-Cookie", setCookie(deps, undefined, 0));
    c.header("Cache-Control", "no-store");
    return c.json({ ended: token !== undefined } satisfies z.input<typeof EndedSession>);
  });
}

async function isSignedIn(c: Context<Env>, deps: Deps): Promise<boolean> {
  const token = sessionCookie(c.req.raw.headers, deps);
  return token !== undefined && (await findSession(deps.db, hashToken(token), deps.clock.nowNs())) !== undefined;
}

/** Returns the JSON body of a call that our own page makes. */
export async function readFromOwnPage<S extends z.ZodObject>(
  c: Context<Env>,
  deps: Deps,
  body: S,
): Promise<z.output<S>> {
  requireOwnOrigin(c.req.raw.headers, deps);
  requireJson(c.req.raw.headers);
  const operation = { method: "post", path: c.req.path, access: { kind: "person" }, summary: "", body } as const;
  return (await parseInput(c, operation)) as z.output<S>;
}

export function strangerOf(c: Context<Env>, deps: Deps): Stranger {
  const address = () => addressOf(c, deps.trustedProxies);
  const formerToken = sessionCookie(c.req.raw.headers, deps);
  return { ...deps, address, goneSignal: () => newGoneSignal(c), requestId: c.get("requestId"), formerToken };
}

function answer(c: Context<Env>, deps: Deps, { id, token, expiresAt }: NewSession): Response {
  c.header("Set-Cookie", setCookie(deps, token, SESSION_SECONDS));
  c.header("Cache-Control", "no-store");
  return c.json(z.encode(BegunSession, { id, expiresAt }));
}
