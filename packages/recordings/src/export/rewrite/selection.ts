import { MAX_TIME_NS } from "../../reading/field-cursor.ts";
export interface Selection {
  /** The id in the written file of every channel of the source, or `UNWANTED`. */
  readonly ids: ReadonlyMap<number, number>;
  /** The first and the last log time, both inclusive. */
  readonly startNs?: bigint | undefined;
  readonly endNs?: bigint | undefined;
  /** The selection as it is sent to threads. */
  readonly sent: SentSelection;
}

/** A selection that threads share. A map of 65,536 channels would be copied with each job, which takes 10 ms. */
export interface SentSelection {
  /** Each id, followed by the id in the written file. */
  readonly ids: Float64Array;
  readonly startNs: bigint | undefined;
  readonly endNs: bigint | undefined;
}

export function createSelection(
  ids: ReadonlyMap<number, number>,
  { startNs, endNs }: { startNs?: bigint | undefined; endNs?: bigint | undefined },
): Selection {
  const pairs = new Float64Array(new SharedArrayBuffer(2 * ids.size * Float64Array.BYTES_PER_ELEMENT));
  let at = 0;
  for (const [id, written] of ids) {
    pairs[at] = id;
    pairs[at + 1] = written;
    at += 2;
  }
  return { ids, startNs, endNs, sent: { ids: pairs, startNs, endNs } };
}

export const UNWANTED = -1;

/** A selection that can be asked a million times. */
export interface QuickSelection {
  idOf(channelId: number): number;
  /** The ids of MCAP channels in the written file, or `UNWANTED`, by the id in the source. */
  readonly ids: Int32Array;
  /** Whether every id stays as it is. */
  readonly keepsIds: boolean;
  /** Whether a time, in halves of 32 bits, lies in the window. */
  isInWindow(timeHigh: number, timeLow: number): boolean;
}

export function toQuickSelection({ ids, startNs = 0n, endNs = MAX_TIME_NS }: SentSelection): QuickSelection {
  const quick = new Int32Array(ID_COUNT).fill(UNWANTED);
  let keepsIds = true;
  /** The ids of bags, whose connections may have any number. */
  const large = new Map<number, number>();
  for (let at = 0; at < ids.length; at += 2) {
    const [id, written] = [ids[at]!, ids[at + 1]!];
    if (id < ID_COUNT) quick[id] = written;
    else large.set(id, written);
    if (written !== UNWANTED && written !== id) keepsIds = false;
  }
  const [startHigh, startLow] = splitTime(startNs);
  // Times beyond signed 64 bits, which only garbage has, count as the last one.
  const [endHigh, endLow] = splitTime(endNs < MAX_TIME_NS ? endNs : 2n ** 64n - 1n);
  return {
    ids: quick,
    keepsIds,
    idOf: (id) => (id < ID_COUNT ? quick[id]! : (large.get(id) ?? UNWANTED)),
    isInWindow: (high, low) =>
      (high > startHigh || (high === startHigh && low >= startLow)) &&
      (high < endHigh || (high === endHigh && low <= endLow)),
  };
}

const ID_COUNT = 65_536;

/** Windows may begin before 1970. */
function splitTime(timeNs: bigint): [high: number, low: number] {
  return [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];
}
