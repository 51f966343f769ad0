// The first reading of an episode keeps the times of its messages, and not their values: it says which message each row takes. A message is
// known by its number among those of its topic, which is the same whenever the topic is read.

import type { Channel, Message } from "@downlink/messages/read-mcap";
import { DecodeError, type Value } from "@downlink/messages/value";
import { type Episode, TrainingError } from "../episodes/episode.ts";
import { Growing } from "./growing.ts";
import { NoValueError } from "./no-value-error.ts";
import type { Plan, PlannedPart } from "./plan.ts";
import { readNumbered } from "./read-numbered.ts";
import { type Cell, findPicture, readPart, valueAt } from "./read-part.ts";
import { readStamp } from "./read-stamp.ts";
import { checkCells } from "./to-cells.ts";

/** The messages of a part that have a value, by time; of those with one time the last that was recorded. */
export interface Series {
  /** In nanoseconds after the episode's start. */
  readonly atNs: Float64Array;
  /** The number of each message among those of its topic. */
  readonly ordinals: Int32Array;
  readonly facts: SeriesFacts;
}

/** The facts that the first message gives, and the count of those without a value. */
export interface SeriesFacts {
  readonly names: readonly string[];
  /** The height, width and channels of a picture; else the number of values. */
  readonly shape: readonly number[];
  readonly channel: Channel | undefined;
  readonly unusable: number;
  /** Why the first of those without a value has none. */
  readonly reason: string | undefined;
  /** Bytes of the pictures, for each message in the order of {@link Series.atNs}; of numbers none. */
  readonly pictureBytes: Int32Array;
}

export interface Collected {
  readonly series: ReadonlyMap<PlannedPart, Series>;
  readonly task: string | undefined;
}

/** Times that are kept of one episode, of all parts together: 400 MB. */
const MAX_KEPT = 20_000_000;

/** Reads all messages of a plan once. Throws {@link TrainingError} for messages without the time that the mapping asks for. */
export async function collectSeries(plan: Plan, episode: Episode): Promise<Collected> {
  const { task } = plan.mapping;
  const collecting = new Map(plan.parts.map((part) => [part, newCollecting()]));
  const byTopic = Map.groupBy(plan.parts, ({ part }) => part.topic);
  const others = "topic" in task ? [task.topic] : [];
  let found: string | undefined;
  let kept = 0;
  for await (const { message, ordinal, value } of readNumbered(plan, episode, { parts: plan.parts, others })) {
    const { topic } = message.channel;
    kept += byTopic.get(topic)?.length ?? 0;
    if (kept > MAX_KEPT)
      throw new TrainingError(`the episode ${episode.id} has more than ${MAX_KEPT} messages for its features`);
    for (const part of byTopic.get(topic) ?? [])
      take(collecting.get(part)!, { part, message, value, ordinal, startNs: episode.startNs });
    if ("topic" in task && task.topic === topic) found ??= readTask(task.field, value, isInside(episode, message));
  }
  const series = new Map([...collecting].map(([part, one]) => [part, finish(one)]));
  return { series, task: "topic" in task ? found : undefined };
}

function isInside({ startNs, endNs }: Episode, { logTimeNs }: Message): boolean {
  return startNs <= logTimeNs && logTimeNs <= endNs;
}

function readTask(field: string, value: () => Value, isWanted: boolean): string | undefined {
  const text = isWanted ? valueAt(value(), field) : undefined;
  return typeof text === "string" ? text : undefined;
}

interface Collecting {
  readonly atNs: Growing<Float64Array>;
  readonly ordinals: Growing<Int32Array>;
  readonly pictureBytes: Growing<Int32Array>;
  names: readonly string[];
  shape: readonly number[];
  channel: Channel | undefined;
  unusable: number;
  reason: string | undefined;
}

function newCollecting(): Collecting {
  const none = { names: [], shape: [], channel: undefined, unusable: 0, reason: undefined };
  const integers = () => new Growing((length) => new Int32Array(length));
  return {
    ...{ atNs: new Growing((length) => new Float64Array(length)), ordinals: integers(), pictureBytes: integers() },
    ...none,
  };
}

interface Taken {
  readonly part: PlannedPart;
  readonly message: Message;
  readonly value: () => Value;
  readonly ordinal: number;
  readonly startNs: bigint;
}

/** Times beyond this are not exact as a number, and far outside of every episode. */
const FAR_NS = Number.MAX_SAFE_INTEGER;

function take(into: Collecting, { part, message, value, ordinal, startNs }: Taken): void {
  into.channel ??= message.channel;
  try {
    const atNs = Number(readStamp(part, message, value) - startNs);
    if (Math.abs(atNs) > FAR_NS) throw new NoValueError("has a time that is years from its episode");
    const bytes = part.isClock ? 0 : judge(into, part, value());
    into.atNs.push(atNs);
    into.ordinals.push(ordinal);
    into.pictureBytes.push(bytes);
  } catch (error) {
    if (!(error instanceof DecodeError || error instanceof NoValueError)) throw error;
    into.unusable += 1;
    into.reason ??=
      error instanceof DecodeError ? `cannot be read: ${error.message.replace(/\.$/, "")}` : error.message;
  }
}

/** Checks that the message has a value like those before it. Returns the bytes of a picture. */
function judge(into: Collecting, { part, dtype, feature }: PlannedPart, value: Value): number {
  if (dtype === "image") {
    const { width, height, sizeBytes } = findPicture(part, value);
    requireShape(into, [height, width, 3], feature);
    return sizeBytes;
  }
  const { cells, names = into.names } = readPart(part, value, { isNamed: into.names.length === 0 });
  checkCells(cells as Cell[], dtype);
  requireShape(into, [cells.length], feature);
  into.names = names;
  return 0;
}

function requireShape(into: Collecting, shape: readonly number[], feature: string): void {
  if (into.shape.length === 0) into.shape = shape;
  if (shape.every((size, place) => size === into.shape[place])) return;
  const [is, was] = [shape, into.shape].map((sizes) => sizes.join(" × "));
  if (shape.length > 1) throw new TrainingError(`the pictures of ${feature} have ${was} values, and later ones ${is}`);
  throw new NoValueError(`has ${is} values, and others before it have ${was}`);
}

function finish({ atNs: times, ordinals: numbers, pictureBytes: sizes, ...facts }: Collecting): Series {
  const [atNs, ordinals, pictureBytes] = [times.all, numbers.all, sizes.all];
  const order = Int32Array.from({ length: atNs.length }, (_, place) => place);
  // Sorting needs an object for each of them, and most come in order.
  if (atNs.some((at, place) => at < atNs[place - 1]!)) order.sort((a, b) => atNs[a]! - atNs[b]! || a - b);
  const kept = order.filter((place, at) => atNs[place] !== atNs[order[at + 1] ?? -1]);
  return {
    atNs: Float64Array.from({ length: kept.length }, (_, at) => atNs[kept[at]!]!),
    ordinals: kept.map((place) => ordinals[place]!),
    facts: { ...facts, pictureBytes: kept.map((place) => pictureBytes[place]!) },
  };
}
