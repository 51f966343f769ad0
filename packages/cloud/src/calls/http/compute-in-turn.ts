import type { Context } from "hono";
import type { Ctx } from "../context/context.ts";
import type { Env } from "./env.ts";
import { callerToken } from "./in-turn.ts";
import { newGoneSignal } from "./new-gone-signal.ts";

/** The rest after a computation is so many times as long, so that computations take a third of the time at most. */
const RESTS = 2;

/**
 * Does what holds the processor for milliseconds, such as parsing megabytes: one computation at a time, organization by organization, and
 * after each of them a rest, in which other calls are answered.
 */
export async function computeInTurn<T>(
  c: Context<Env>,
  { turns, caller }: Pick<Ctx, "turns" | "caller">,
  compute: () => T,
): Promise<T> {
  const taker = { owner: caller.orgId, token: callerToken(caller) };
  const turn = await turns.computations.take(taker, () => newGoneSignal(c));
  const beganMs = performance.now();
  try {
    return compute();
  } finally {
    setTimeout(() => turn[Symbol.dispose](), (performance.now() - beganMs) * RESTS);
  }
}
