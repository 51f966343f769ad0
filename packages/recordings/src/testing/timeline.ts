export interface Timeline {
  readonly rates: readonly number[];
  readonly startNs: bigint;
  readonly durationSeconds: number;
}

export interface Tick {
  /** Into `rates`. */
  readonly topicIndex: number;
  readonly sequence: number;
  readonly timeNs: bigint;
}

/** The moments at which topics of these rates (Hz) record, in order of time. */
export function* ticksOf({ rates, startNs, durationSeconds }: Timeline): Generator<Tick> {
  const periods = rates.map((rateHz) => BigInt(Math.round(1e9 / rateHz)));
  const next = rates.map(() => 0n);
  const sequences = rates.map(() => 0);
  const durationNs = BigInt(Math.round(durationSeconds * 1e9));
  while (true) {
    let topicIndex = -1;
    for (let index = 0; index < rates.length; index += 1) {
      const isDue = next[index]! < durationNs && (topicIndex < 0 || next[index]! < next[topicIndex]!);
      if (isDue) topicIndex = index;
    }
    if (topicIndex < 0) return;
    yield { topicIndex, sequence: sequences[topicIndex]!, timeNs: startNs + next[topicIndex]! };
    sequences[topicIndex]! += 1;
    next[topicIndex]! += periods[topicIndex]!;
  }
}
