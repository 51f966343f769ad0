export interface Selection {
  /** For every channel of the source its id in the written file, or `unwanted`. */
  ids: ReadonlyMap<number, number>;
  /** Log times, inclusive. */
  startNs?: bigint | undefined;
  endNs?: bigint | undefined;
}

export const unwanted = -1;

/** A selection as it is asked a million times. */
export interface QuickSelection {
  idOf(channelId: number): number;
  /** Of MCAP channels, by id: in the written file, or `unwanted`. */
  readonly ids: Int32Array;
  /** Every id stays as it is. */
  readonly keepsIds: boolean;
  /** The window in halves of 32 bits. */
  isInWindow(timeHigh: number, timeLow: number): boolean;
}

export function toQuickSelection({ ids, startNs = 0n, endNs = 2n ** 63n - 1n }: Selection): QuickSelection {
  const quick = new Int32Array(idCount).fill(unwanted);
  let keepsIds = true;
  for (const [id, written] of ids) {
    if (id < idCount) quick[id] = written;
    if (written !== unwanted && written !== id) keepsIds = false;
  }
  const [startHigh, startLow] = splitTime(startNs);
  const [endHigh, endLow] = splitTime(endNs);
  return {
    ids: quick,
    keepsIds,
    idOf: (id) => ids.get(id) ?? unwanted,
    isInWindow: (high, low) =>
      (high > startHigh || (high === startHigh && low >= startLow)) &&
      (high < endHigh || (high === endHigh && low <= endLow)),
  };
}

const idCount = 65_536;

/** Windows may begin before 1970. */
function splitTime(timeNs: bigint): [high: number, low: number] {
  return [Number(timeNs >> 32n), Number(timeNs & 0xffff_ffffn)];
}
