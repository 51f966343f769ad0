import type { TopicActivity } from "../survey/summary.ts";
import type { RunChannel, VerifiedRun } from "./verified-run.ts";

interface ChannelActivity {
  lastNs: bigint;
  /** Infinity if its messages are not in order, or if they were not compared. */
  maxGapNs: number;
  messageCount: number;
  /** The number of messages in each held part of the time. It is absent if there are too many channels already. */
  readonly bins: Float32Array | undefined;
}

export const ACTIVITY_PARTS = 256;
/**
 * Four times as many parts are held as are answered. The recording takes at least a quarter of the held time, so that no answered part is
 * narrower than a held one.
 */
const HELD_PARTS = 1024;
const MOST_WITH_PARTS = 2048;

/**
 * Notes when the messages of each channel came: the longest time between two, and how many came in each of 256 parts of the recording's
 * time. It takes 4 kB for each channel, whatever the file's length: the recording's duration is known only at its end, so parts become
 * twice as long whenever they do not reach far enough.
 *
 * We note runs, not messages, because an import would pay for noting each message: within a run the messages of a channel are taken to come
 * evenly. Only the longest gap is looked for message by message, which costs nothing that can be measured.
 */
export class ActivityLog {
  readonly #channels = new Map<number, ChannelActivity>();
  /** The first time that was seen. All other times are counted from it, in nanoseconds. */
  #baseNs: bigint | undefined;
  /**
   * Where the held parts begin, a multiple of their width. At first they reach as far before the base as behind it, because the first
   * message need not be the earliest.
   */
  #origin = -HELD_PARTS / 2;
  #width = 1;

  /** Runs come in the order of the file, once they are verified. */
  add(run: VerifiedRun): void {
    if (run.damage || run.hasDoubtedTimes) return; // times of other centuries would make the parts too long
    this.#baseNs ??= run.startNs;
    for (const channel of run.channels) this.#addChannel(channel, this.#baseNs);
  }

  /** Answers the activity of the channels that make up one topic. Both times are those of the recording. */
  of(channelIds: readonly number[], startNs: bigint, endNs: bigint): TopicActivity {
    const own = channelIds.flatMap((id) => this.#channels.get(id) ?? []);
    const [only] = own;
    const hasGap = own.length === 1 && only!.messageCount > 1 && Number.isFinite(only!.maxGapNs);
    const start = Number(startNs - (this.#baseNs ?? startNs));
    const durationNs = Number(endNs - startNs) || Infinity; // a recording of one instant lies in the first part
    const middleOf = (part: number): number => this.#origin + part * this.#width + (this.#width - 1) / 2;
    const sums = sumParts(own, (part) => (middleOf(part) - start) / durationNs);
    return {
      ...(hasGap && { maxGapNs: BigInt(only!.maxGapNs) }),
      ...(sums && { activity: toBytes(sums) }),
    };
  }

  #addChannel({ channelId, messageCount, startNs, endNs, maxGapNs = Infinity }: RunChannel, baseNs: bigint): void {
    const [from, to] = [Number(startNs - baseNs), Number(endNs - baseNs)];
    this.#reach(from, to);
    const channel = this.#channelOf(channelId, startNs);
    const sinceNs = startNs < channel.lastNs ? Infinity : Number(startNs - channel.lastNs);
    channel.maxGapNs = Math.max(channel.maxGapNs, maxGapNs, sinceNs);
    if (endNs > channel.lastNs) channel.lastNs = endNs;
    channel.messageCount += messageCount;
    const partOf = (ns: number): number => Math.floor((ns - this.#origin) / this.#width);
    if (channel.bins) spread(channel.bins, { first: partOf(from), last: partOf(to), messageCount });
  }

  #channelOf(channelId: number, startNs: bigint): ChannelActivity {
    const known = this.#channels.get(channelId);
    if (known) return known;
    const channel = newChannel(startNs, this.#channels.size < MOST_WITH_PARTS);
    this.#channels.set(channelId, channel);
    return channel;
  }

  #reach(from: number, to: number): void {
    while (from < this.#origin) this.#widen(true);
    while (to >= this.#origin + HELD_PARTS * this.#width) this.#widen(false);
  }

  #widen(isDownwards: boolean): void {
    const isOdd = (this.#origin / this.#width) % 2 !== 0;
    const shift = isDownwards ? HELD_PARTS - (isOdd ? 1 : 0) : Number(isOdd);
    this.#origin -= shift * this.#width;
    this.#width *= 2;
    for (const { bins } of this.#channels.values()) if (bins) bins.set(halved(bins, shift));
  }
}

function newChannel(startNs: bigint, hasParts: boolean): ChannelActivity {
  const bins = hasParts ? new Float32Array(HELD_PARTS) : undefined;
  return { lastNs: startNs, maxGapNs: 0, messageCount: 0, bins };
}

function halved(bins: Float32Array, shift: number): Float32Array {
  const wider = new Float32Array(HELD_PARTS);
  for (let part = 0; part < HELD_PARTS; part += 1) {
    const count = bins[part]!;
    if (count > 0) wider[(part + shift) >> 1]! += count;
  }
  return wider;
}

/** Spreads messages over no more parts than there are messages, the first and the last into their own. */
function spread(
  bins: Float32Array,
  { first, last, messageCount }: { first: number; last: number; messageCount: number },
): void {
  const parts = Math.min(messageCount, last - first + 1);
  for (let number = 0; number < parts; number += 1) {
    const at = parts === 1 ? first : first + Math.round((number * (last - first)) / (parts - 1));
    bins[at]! += messageCount / parts;
  }
}

/** `placeOf` answers where in the recording's time the middle of a held part is, from 0 to 1. */
function sumParts(own: readonly ChannelActivity[], placeOf: (part: number) => number): Float64Array | undefined {
  if (own.length === 0) return undefined;
  const sums = new Float64Array(ACTIVITY_PARTS);
  for (const { bins } of own) {
    if (!bins) return undefined;
    for (let part = 0; part < HELD_PARTS; part += 1) {
      const count = bins[part]!;
      if (count === 0) continue;
      const at = Math.floor(placeOf(part) * ACTIVITY_PARTS);
      sums[Math.min(Math.max(at, 0), ACTIVITY_PARTS - 1)]! += count;
    }
  }
  return sums;
}

function toBytes(sums: Float64Array): Uint8Array {
  const most = Math.max(...sums);
  return Uint8Array.from(sums, (sum) => (sum === 0 ? 0 : 1 + Math.round((254 * sum) / most)));
}
