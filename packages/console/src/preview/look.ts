import { makeDecode } from "@downlink/messages/decode";
import { readPosition } from "@downlink/messages/position";
import { type Decode, DecodeError, type Value } from "@downlink/messages/value";
import { collectStates } from "./collect-states.ts";
import { formatPath, listFields, parsePath, readField } from "./fields.ts";
import { type Attempt, readPicture } from "./find-picture.ts";
import { findVideo } from "./find-video.ts";
import { findGaps } from "./gaps.ts";
import { previewLimits } from "./limits.ts";
import { type Fix, makeTrack, type Track } from "./make-track.ts";
import { type TreeNode, toTree } from "./message-tree.ts";
import { placeAt } from "./place-at.ts";
import { type LogRow, readLog } from "./read-log.ts";
import type { Slice, SliceMessage } from "./read-slice.ts";
import type { Line, LogLines, OpenedSlice, Plot, PreviewAnswers, PreviewRequests, States, Unread } from "./requests.ts";
import { columnTimes, type Sample, toPoints } from "./series.ts";
import { kindOf, typeOf } from "./topic-kind.ts";
import { chooseFields } from "./usual-fields.ts";

/** More times than a slider has places are not sent. */
const MAX_TIMES = 5000;

export interface Look {
  readonly opened: OpenedSlice;
  fields(request: PreviewRequests["fields"]): PreviewAnswers["fields"];
  plot(request: PreviewRequests["plot"]): Plot;
  message(request: PreviewRequests["message"]): { timeNs: number; tree: TreeNode };
  /** The picture of the moment, and those that may be shown where that cannot be. */
  pictures(request: PreviewRequests["image"]): Iterable<Attempt>;
  track(request: PreviewRequests["track"]): Track;
  log(request: PreviewRequests["log"]): LogLines;
  states(request: PreviewRequests["states"]): States;
}

/** Answers questions about the messages of a slice. `onStep` is called between messages, to show that it goes on. */
export function lookInto(slice: Slice, onStep: () => void = () => undefined): Look {
  const decode = decodeOnce();
  return {
    opened: describe(slice),
    fields: ({ topic }) => fieldsOf(messagesOf(slice, topic), decode),
    plot: (request) => plot(slice, request, { decode, onStep }),
    message: ({ topic, timeNs }) => {
      const { messages, place } = find(slice, topic, timeNs);
      const message = messages[place]!;
      return { timeNs: message.timeNs, tree: toTree(decode(message)) };
    },
    pictures: ({ topic, timeNs }) => picturesFrom(find(slice, topic, timeNs), decode),
    track: ({ topic }) => trackOf(messagesOf(slice, topic), { decode, onStep }),
    log: ({ topic }) => logOf(messagesOf(slice, topic), { decode, onStep }),
    states: ({ topic }) => statesOf(messagesOf(slice, topic), { decode, onStep }),
  };
}

interface Found {
  readonly messages: readonly SliceMessage[];
  readonly place: number;
}

/** Returns the messages of a topic, and the place of the last one at or before the time, or else of the first one. */
function find(slice: Slice, topic: string, timeNs: number): Found {
  const messages = messagesOf(slice, topic);
  if (messages.length === 0) throw new DecodeError(`There is no message of ${topic} in this part.`);
  const place = placeAt(messages, timeNs, (one) => one.timeNs);
  return { messages, place: Math.max(0, place) };
}

function picturesFrom({ messages, place }: Found, decode: DecodeMessage): Iterable<Attempt> {
  if (typeOf(messages[place]!.encoded.schemaName) === "CompressedVideo") {
    const video = messages.map((message) => ({ timeNs: message.timeNs, read: () => decode(message) }));
    return findVideo(video, place);
  }
  return messages
    .slice(place, place + previewLimits.pictureTries)
    .map((message) => ({ timeNs: message.timeNs, read: () => readPicture(decode(message)) }));
}

type DecodeMessage = (message: SliceMessage) => Value;
interface Reading {
  readonly decode: DecodeMessage;
  readonly onStep: () => void;
}

function describe({ originNs, bytes, messageCount, end, topics }: Slice): OpenedSlice {
  const lastTimes = [...topics.values()].map(({ messages }) => messages.at(-1)?.timeNs ?? 0);
  return {
    originNs,
    bytes,
    messageCount,
    end,
    endNs: lastTimes.reduce((a, b) => Math.max(a, b), 0),
    topics: [...topics.values()].map(({ topic, messages }) => {
      const schemaName = messages[0]?.encoded.schemaName ?? "";
      const step = Math.ceil(messages.length / MAX_TIMES);
      const timesNs = messages.filter((_, index) => index % step === 0).map(({ timeNs }) => timeNs);
      return { topic, schemaName, kind: kindOf(schemaName), messageCount: messages.length, timesNs };
    }),
  };
}

/** The schema is read with the first message that needs it, once; what is wrong with it is said for every message. */
function decodeOnce(): DecodeMessage {
  const known = new Map<SliceMessage["encoded"], Decode | DecodeError>();
  return ({ encoded, data }) => {
    const decode = known.get(encoded) ?? tryToMake(encoded);
    known.set(encoded, decode);
    if (decode instanceof DecodeError) throw decode;
    return decode(data);
  };
}

function tryToMake(encoded: SliceMessage["encoded"]): Decode | DecodeError {
  try {
    return makeDecode(encoded);
  } catch (error) {
    if (error instanceof DecodeError) return error;
    throw error;
  }
}

function messagesOf({ topics }: Slice, topic: string): readonly SliceMessage[] {
  return topics.get(topic)?.messages ?? [];
}

/** Lists the fields of the first, the middle and the last message together: an array may be empty in one of them. */
function fieldsOf(messages: readonly SliceMessage[], decode: DecodeMessage): PreviewAnswers["fields"] {
  const looked = [messages[0], messages[messages.length >> 1], messages.at(-1)].filter(
    (message) => message !== undefined,
  );
  const found = looked.flatMap((message) => listFields(decode(message)).map(formatPath));
  const fields = [...new Set(found)].slice(0, previewLimits.fields);
  return { fields, usual: chooseFields(messages[0]?.encoded.schemaName ?? "", fields) };
}

function plot(slice: Slice, { lines, startNs, endNs, columns }: PreviewRequests["plot"], reading: Reading): Plot {
  const grid = {
    startNs,
    endNs: Math.max(endNs, startNs + 1),
    count: Math.min(Math.max(1, Math.floor(columns)), 4096),
  };
  const shown = lines.slice(0, previewLimits.series);
  const byTopic = Map.groupBy(shown, ({ topic }) => topic);
  const drawn = [...byTopic].map(([topic, ofTopic]) => {
    const samples = sample(messagesOf(slice, topic), ofTopic, { startNs, endNs, ...reading });
    const gaps = findGaps(messagesOf(slice, topic).map(({ timeNs }) => timeNs));
    const points = samples.lines.map((line) => toPoints(line, grid, gaps));
    return { ofTopic, points, gaps: gaps.filter((gap) => gap.startNs < endNs && gap.endNs > startNs), samples };
  });
  const pointsOf = new Map(
    drawn.flatMap(({ ofTopic, points }) => ofTopic.map((line, index) => [line, points[index]!])),
  );
  const problem = drawn.find(({ samples }) => samples.problem)?.samples.problem;
  return {
    timesNs: columnTimes(grid),
    points: shown.map((line) => pointsOf.get(line)!),
    gaps: drawn.flatMap(({ gaps }) => gaps),
    unreadable: drawn.reduce((sum, { samples }) => sum + samples.unreadable, 0),
    ...(problem ? { problem } : {}),
  };
}

interface Samples extends Mutable<Unread> {
  readonly lines: Sample[][];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Reads each message once for all its lines. */
function sample(
  messages: readonly SliceMessage[],
  lines: readonly Line[],
  { startNs, endNs, decode, onStep }: Reading & { startNs: number; endNs: number },
): Samples {
  const paths = lines.map(({ field }) => parsePath(field));
  const samples: Samples = { lines: lines.map(() => []), unreadable: 0 };
  for (const message of messages) {
    if (message.timeNs < startNs || message.timeNs > endNs) continue;
    onStep();
    const value = tryToDecode(message, decode, samples);
    if (value === undefined) continue;
    for (const [index, path] of paths.entries()) {
      samples.lines[index]!.push({ timeNs: message.timeNs, value: readField(value, path) });
    }
  }
  return samples;
}

function tryToDecode(message: SliceMessage, decode: DecodeMessage, unread: Mutable<Unread>): Value | undefined {
  try {
    return decode(message);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    unread.unreadable += 1;
    unread.problem ??= error.message;
    return undefined;
  }
}

function trackOf(messages: readonly SliceMessage[], { decode, onStep }: Reading): Track {
  const fixes: Fix[] = [];
  for (const message of messages) {
    onStep();
    const position = readPosition(decode(message));
    if (position) fixes.push({ timeNs: message.timeNs, ...position });
  }
  return makeTrack(fixes, findGaps(fixes.map(({ timeNs }) => timeNs)));
}

function logOf(messages: readonly SliceMessage[], { decode, onStep }: Reading): LogLines {
  const rows: LogRow[] = [];
  const unread: Mutable<Unread> = { unreadable: 0 };
  for (const message of messages.slice(0, previewLimits.logRows)) {
    onStep();
    const value = tryToDecode(message, decode, unread);
    if (value !== undefined) rows.push(readLog(value, message.timeNs));
  }
  return { rows, leftOut: Math.max(0, messages.length - previewLimits.logRows), ...unread };
}

function statesOf(messages: readonly SliceMessage[], { decode, onStep }: Reading): States {
  const states = collectStates();
  const unread: Mutable<Unread> = { unreadable: 0 };
  for (const message of messages) {
    onStep();
    const value = tryToDecode(message, decode, unread);
    if (value !== undefined) states.add(value, message.timeNs);
  }
  return { ...states.finish(), ...unread };
}
