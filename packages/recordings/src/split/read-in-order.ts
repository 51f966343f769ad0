import type { Finish, Output } from "../export/assemble.ts";
import { type ExportSession, openSession } from "../export/export-session.ts";
import { hugeData } from "../export/load/large-pieces.ts";
import { orderOutput } from "../export/order-output.ts";
import type { ExportSource } from "../export/plan/export-options.ts";
import type { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import type { HoldMemory } from "../memory/large-memory.ts";

export interface ReadingOptions {
  /** Asked before much memory is used at once. By default everything in the process shares one budget. */
  readonly hold?: HoldMemory | undefined;
  /** By default all exports of the process share one pool. */
  readonly pool?: RewritePool;
  readonly signal?: AbortSignal;
}

export function openWhole(source: ExportSource, options: ReadingOptions): ExportSession {
  return openSession([source], { ...options, compression: "lz4", memoryBudgetBytes: BUDGET_BYTES });
}

/** Splitting is no hurry, so it takes less memory than an export. */
const BUDGET_BYTES = 32 * 1024 * 1024;

/** Yields all messages of a recording as an export has them, in order of log time. */
export async function* readInOrder(
  session: ExportSession,
): AsyncGenerator<Exclude<Output, { readonly kind: "chunks" }>> {
  for await (const output of orderOutput(session, { finish: handOn, mergesAll: true })) {
    if (output.kind === "chunks") throw new Error("nothing is passed on if everything is merged");
    yield output;
    if (output.kind === "opened") await output.source.release();
  }
}

const handOn: Finish = {
  messages: (fragment) => ({ weightBytes: 0, run: async () => ({ kind: "messages", fragment }) }),
  async *huge(run, at, head) {
    yield { kind: "huge", head, open: hugeData(run, at) };
  },
};
