import {
  AskDeviceCode,
  AskIdToken,
  DecideDeviceCode,
  deviceCodeRoutes,
  ExchangeIdToken,
  type SeenDeviceCode,
} from "@downlink/protocol";
import type { Context, Hono } from "hono";
import type { z } from "zod";
import type { Env } from "../../calls/connections/env.ts";
import type { Deps } from "../../calls/context/context.ts";
import { isByCookie } from "../../calls/serve/authenticate.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { requireOwnOrigin } from "../../calls/serve/session-cookie.ts";
import type { MemberCaller } from "../../core/callers.ts";
import { refuse } from "../../core/errors.ts";
import { askDeviceCode, askIdToken, decide, exchangeIdToken, findTyped } from "./device-codes.ts";
import { strangerOf } from "./session-routes.ts";

/** Serves the sign-in of programs. They call without a token and read no cookie; the member who decides has a session. */
export function deviceCodeRoutesOf(app: Hono<Env>, deps: Deps): void {
  const { ask, token, signIn, look, decide: decision } = deviceCodeRoutes;
  app.post(ask.path, async (c) => {
    const { clientId } = await readBody(c, AskDeviceCode);
    return answer(c, await askDeviceCode(strangerOf(c, deps), clientId));
  });
  app.post(token.path, async (c) => {
    const given = await readBody(c, AskIdToken);
    return answer(c, await askIdToken(strangerOf(c, deps), given));
  });
  app.post(signIn.path, async (c) => {
    const { idToken } = await readBody(c, ExchangeIdToken);
    return answer(c, await exchangeIdToken(strangerOf(c, deps), idToken));
  });
  app.get(look.path, async (c) => {
    const typed = { caller: await memberOf(c, deps), userCode: c.req.query("userCode") ?? "" };
    const { clientId, address, userCode, expiresAtNs } = await findTyped(strangerOf(c, deps), typed);
    return answer(c, {
      clientId,
      address,
      userCode,
      expiresAt: new Date(Number(expiresAtNs / 1_000_000n)).toISOString(),
    } satisfies z.input<typeof SeenDeviceCode>);
  });
  app.post(decision.path, async (c) => {
    requireOwnOrigin(c.req.raw.headers, deps);
    const caller = await memberOf(c, deps);
    const { userCode, approve } = await readBody(c, DecideDeviceCode);
    return answer(c, await decide(strangerOf(c, deps), { caller, userCode }, approve));
  });
}

async function memberOf(c: Context<Env>, deps: Deps): Promise<MemberCaller> {
  const { caller } = await openContext(c, deps, { kind: "person" });
  // The token of a program, or one that was taken from a browser, would otherwise get itself another session each time.
  if (caller.kind === "member" && !caller.isOfProgram && isByCookie(c.req.raw.headers, deps)) return caller;
  return refuse("WrongCredentialKind", "this takes the session of a member, as the cookie of a browser");
}

async function readBody<S extends z.ZodObject>(c: Context<Env>, body: S): Promise<z.output<S>> {
  const operation = { method: "post", path: c.req.path, access: { kind: "person" }, summary: "", body } as const;
  return (await parseInput(c, operation)) as z.output<S>;
}

function answer(c: Context<Env>, answered: object): Response {
  c.header("Cache-Control", "no-store");
  return c.json(answered);
}
