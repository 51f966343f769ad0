import type { Deps } from "../../calls/context/context.ts";

/** A process that died loses its turn after this time. */
const TURN_NS = 120_000_000_000n;

export interface Turn extends AsyncDisposable {
  /** Says that the process is still at work; false if another one has the turn by now. */
  keep(): Promise<boolean>;
}

/** Undefined if another process has the turn for this bucket. */
export async function takeTurn({ db, clock }: Pick<Deps, "db" | "clock">, siteId: string): Promise<Turn | undefined> {
  const { siteBucket } = db.prisma;
  const nowNs = clock.nowNs();
  let turnUntilNs = nowNs + TURN_NS;
  const isFree = { OR: [{ turnUntilNs: null }, { turnUntilNs: { lt: nowNs } }] };
  const taken = await siteBucket.updateMany({ where: { siteId, ...isFree }, data: { turnUntilNs } });
  if (taken.count === 0) return undefined;
  return {
    async keep() {
      const later = clock.nowNs() + TURN_NS;
      const kept = await siteBucket.updateMany({ where: { siteId, turnUntilNs }, data: { turnUntilNs: later } });
      turnUntilNs = later;
      return kept.count === 1;
    },
    async [Symbol.asyncDispose]() {
      await siteBucket.updateMany({ where: { siteId, turnUntilNs }, data: { turnUntilNs: null } });
    },
  };
}
