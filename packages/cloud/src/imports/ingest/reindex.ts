import { type ReindexDeps, type ReindexOutcome, reindexRecording } from "./reindex-recording.ts";

interface Reindexed {
  readonly recordingId: string;
  readonly outcome: ReindexOutcome | "failed";
  readonly reason?: string;
}

interface ReindexOptions {
  /** Recordings that have an index get a new one, too. */
  readonly isForced: boolean;
  readonly signal: AbortSignal;
}

const PAGE = 100;

/** Indexes all imported recordings, one after another; a second run continues where the first was stopped. */
export async function* reindex(
  deps: ReindexDeps,
  { isForced, signal }: ReindexOptions,
): AsyncGenerator<Reindexed, void> {
  const without = isForced ? {} : { indexKey: null };
  for (let lastId = ""; ; ) {
    const page = await deps.db.prisma.recording.findMany({
      where: { ...without, importStatus: "complete", blobKey: { not: null }, id: { gt: lastId } },
      select: { id: true },
      orderBy: { id: "asc" },
      take: PAGE,
    });
    if (page.length === 0) return;
    for (const { id: recordingId } of page) {
      signal.throwIfAborted();
      yield await tryOne(deps, { recordingId, isForced, signal });
    }
    lastId = page.at(-1)!.id;
  }
}

async function tryOne(deps: ReindexDeps, one: ReindexOptions & { recordingId: string }): Promise<Reindexed> {
  const { recordingId, signal } = one;
  try {
    return { recordingId, outcome: await reindexRecording(deps, one) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { recordingId, outcome: "failed", reason: (error as Error).message };
  }
}

const sentences: Readonly<Record<ReindexOutcome | "failed", string>> = {
  made: "has a new index",
  kept: "needs none",
  changed:
    "is NOT what was imported: its stored bytes have another SHA-256; its device is asked for the file, where that still has it",
  refused: "would NOT be imported today; it keeps what it has",
  failed: "could NOT be read",
};

/** Prints a line for each recording, then the sums. Returns false if one of them needs attention. */
export async function printReindex(found: AsyncIterable<Reindexed>, write: (text: string) => void): Promise<boolean> {
  const counts = { made: 0, kept: 0, changed: 0, refused: 0, failed: 0 };
  for await (const { recordingId, outcome, reason } of found) {
    counts[outcome] += 1;
    write(`${recordingId} ${sentences[outcome]}${reason === undefined ? "" : `: ${reason}`}\n`);
  }
  const { made, kept, changed, refused, failed } = counts;
  write(`${made} indexed, ${kept} left as they are, ${changed + refused + failed} with a problem\n`);
  return changed + refused + failed === 0;
}
