import type { Hono } from "hono";
import { ApiError } from "../../core/errors.ts";
import type { Env } from "../connections/env.ts";
import type { Deps } from "../context/context.ts";

const PATH = "/.well-known/security.txt";
const DAY_MS = 86_400_000;
/** Less than a year, as RFC 9116 advises. The setting is read at each start, so that an answer is true when it is given. */
const GOOD_FOR_DAYS = 180;

type ContactDeps = Pick<Deps, "securityContact" | "publicUrl" | "clock">;

/** Serves where to report a fault of security, as the operator said; 404 if they said nothing. spec: RFC 9116 */
export function securityTextRoute(app: Hono<Env>, { securityContact, publicUrl, clock }: ContactDeps): void {
  app.get(PATH, (c) => {
    if (securityContact === undefined)
      throw new ApiError("NotFound", "there is no security.txt: the operator set no DOWNLINK_SECURITY_CONTACT");
    const today = Math.floor(Number(clock.nowNs() / 1_000_000n) / DAY_MS);
    const expires = new Date((today + GOOD_FOR_DAYS) * DAY_MS).toISOString();
    const lines = [`Contact: ${securityContact}`, `Expires: ${expires}`, `Canonical: ${publicUrl()}${PATH}`];
    return c.body(`${lines.join("\n")}\n`, 200, { "Content-Type": "text/plain; charset=utf-8" });
  });
}
