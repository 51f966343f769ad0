import type { Ctx } from "../../calls/context/context.ts";
import { chooseTime, isSilent } from "./choose-part.ts";
import { isEmpty, toCut, withRecording } from "./cut-rows.ts";
import { missingParts } from "./plan-cuts.ts";

interface Wanted {
  /** Absent or empty: all topics. */
  readonly topics?: readonly string[] | null | undefined;
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

/** Returns those of the recordings whose imported parts hold all that is wanted of them, so that nothing is missing without the rest. */
export async function findHeldInParts({ db }: Ctx, wholeIds: readonly string[], wanted: Wanted): Promise<string[]> {
  if (wholeIds.length === 0) return [];
  const ids = [...new Set(wholeIds)];
  const [wholes, rows] = await Promise.all([
    db.prisma.recording.findMany({
      where: { id: { in: ids } },
      select: { id: true, startNs: true, endNs: true, topics: { select: { topic: true, startNs: true, endNs: true } } },
    }),
    db.prisma.cut.findMany({ where: { wholeId: { in: ids } }, include: withRecording }),
  ]);
  const known = Map.groupBy(
    rows.filter((row) => toCut(row).importStatus === "complete" || isEmpty(row)),
    ({ wholeId }) => wholeId,
  );
  const isHeld = ({ id, topics, ...span }: (typeof wholes)[number]): boolean => {
    const time = chooseTime(span, { start: wanted.startNs, end: wanted.endNs });
    const names = [...new Set(topics.map(({ topic }) => topic))];
    const part = {
      ...time,
      topics: wanted.topics?.length ? names.filter((name) => wanted.topics!.includes(name)) : names,
    };
    const missing = missingParts(part, known.get(id) ?? []);
    return names.length > 0 && missing.every((one) => one.topics.every((topic) => isSilent(topics, topic, one)));
  };
  return wholes.filter(isHeld).map(({ id }) => id);
}
