import type { Ctx } from "../../calls/context/context.ts";
import { chooseTime, isSilent, timesOf } from "./choose-part.ts";
import { isEmpty } from "./cut-rows.ts";
import { missingParts } from "./plan-cuts.ts";

interface GivenPart {
  readonly id: string;
  readonly cut: { readonly wholeId: string } | null;
}

interface Wanted {
  /** Absent or empty: all topics. */
  readonly topics?: readonly string[] | null | undefined;
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

/** Returns the recordings of which the given parts hold all that is wanted, so that nothing is missing without the rest. */
export async function findHeldInParts({ db }: Ctx, parts: readonly GivenPart[], wanted: Wanted): Promise<string[]> {
  const given = new Set(parts.flatMap(({ id, cut }) => (cut ? id : [])));
  const ids = [...new Set(parts.flatMap(({ cut }) => cut?.wholeId ?? []))];
  if (ids.length === 0) return [];
  const [wholes, rows] = await Promise.all([
    db.prisma.recording.findMany({
      where: { id: { in: ids } },
      select: { id: true, startNs: true, endNs: true, topics: { select: { topic: true, startNs: true, endNs: true } } },
    }),
    db.prisma.cut.findMany({ where: { wholeId: { in: ids } } }),
  ]);
  const known = Map.groupBy(
    rows.filter((row) => given.has(row.recordingId ?? "") || isEmpty(row)),
    ({ wholeId }) => wholeId,
  );
  const isHeld = ({ id, topics, ...span }: (typeof wholes)[number]): boolean => {
    const time = chooseTime(span, { start: wanted.startNs, end: wanted.endNs });
    const times = timesOf(topics);
    const named = wanted.topics?.length ? new Set(wanted.topics) : times;
    const part = { ...time, topics: [...times.keys()].filter((name) => named.has(name)) };
    const missing = missingParts(part, known.get(id) ?? []);
    return times.size > 0 && missing.every((one) => one.topics.every((topic) => isSilent(times, topic, one)));
  };
  return wholes.filter(isHeld).map(({ id }) => id);
}
