import { setTimeout as delay } from "node:timers/promises";
import { goMarkRound, type MarkDeps, type MarkStanding, type RoundDeps, readMarkStanding } from "./mark-round.ts";
import { MarkNotes } from "./marks.ts";

const LOOK_MS = 15_000;
/** A process that finds the last mark older than this writes one, so that many processes together write one each minute. */
const DUE_NS = 40_000_000_000n;
const LAST_ROUND_MS = 3000;

type KeeperDeps = MarkDeps & Partial<Pick<RoundDeps, "findLost">>;

/**
 * Compares store and database now, and then each minute until it is disposed of, in one process after the other. Throws a WrongStoreError
 * if the store is not the one that the database knows.
 */
export async function keepMarks(deps: KeeperDeps): Promise<AsyncDisposable> {
  const round = { findLost: async () => undefined, ...deps, marks: new MarkNotes(deps.blobs) };
  await goMarkRound(round);
  const underWay = new Set<Promise<void>>();
  const timer = setInterval(() => {
    if (underWay.size > 0) return;
    const turn = goIfDue(round).finally(() => underWay.delete(turn));
    underWay.add(turn);
  }, LOOK_MS);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      if (underWay.size > 0) await Promise.race([...underWay, delay(LAST_ROUND_MS, undefined, { ref: false })]);
    },
  };
}

async function goIfDue(deps: RoundDeps): Promise<void> {
  try {
    if (isDue(await readMarkStanding(deps.db.prisma))) await goMarkRound(deps);
  } catch (error) {
    deps.log.warn(
      { err: error },
      "the object store was not compared with the database; without that nothing is destroyed",
    );
  }
}

function isDue({ confirmedAtNs, nowNs, postgres, postgresNow }: MarkStanding): boolean {
  if (confirmedAtNs === null || postgres !== postgresNow) return true;
  return nowNs - confirmedAtNs > DUE_NS || confirmedAtNs > nowNs;
}
