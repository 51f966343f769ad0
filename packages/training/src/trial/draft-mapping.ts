import { DecodeError, isNumberArray, isStruct, partOf, type Value } from "@downlink/messages/value";
import { type Feature, type FeaturePart, MAX_MAPPING_TOPICS, type TrainingMapping } from "@downlink/protocol";
import { decodeTopics } from "../align/decode-topics.ts";
import { NoValueError } from "../align/no-value-error.ts";
import { findPicture } from "../align/read-part.ts";
import { type Episode, TrainingError } from "../episodes/episode.ts";

/** A topic that all episodes have. */
export interface DraftTopic {
  readonly topic: string;
  /** Messages a second; undefined: there are too few to say. */
  readonly rateHz: number | undefined;
}

interface Drafting {
  /** One of the episodes. */
  readonly episode: Episode;
  readonly topics: readonly DraftTopic[];
  /** The task where episodes do not name theirs. */
  readonly task: string;
}

/** A mapping that was guessed, with a sentence for each topic that is not in it. */
export interface Draft {
  readonly mapping: TrainingMapping | undefined;
  readonly notes: readonly string[];
}

/** The least rate of a topic of which a row has a value each time. */
const LEAST_HZ = 2;
const USUAL_FPS = 30;
/** The most bytes that are read to find a message of each topic. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Guesses a mapping from the first message of each topic. Those that can be read are its topics, and some become features. */
export async function draftMapping({ episode, topics, task }: Drafting): Promise<Draft> {
  const notes: string[] = [];
  const fast = topics.filter(({ topic, rateHz }) => {
    if (rateHz !== undefined && rateHz >= LEAST_HZ) return true;
    notes.push(`${topic} has too few messages for rows: fewer than ${LEAST_HZ} a second.`);
    return false;
  });
  const rates = new Map(fast.map(({ topic, rateHz }) => [topic, rateHz!]));
  const { guesses, readable } = await guessAll(episode, { topics: topics.map(({ topic }) => topic), rates }, notes);
  if (readable.length === 0) return { mapping: undefined, notes };
  if (readable.length > MAX_MAPPING_TOPICS)
    notes.push(`A mapping has ${MAX_MAPPING_TOPICS} topics at most, and ${readable.length} can be read.`);
  const mapping = { topics: readable.slice(0, MAX_MAPPING_TOPICS) };
  if (guesses.length === 0) return { mapping, notes };
  const isNamed = typeof episode.metadata.task === "string";
  if (!isNamed) notes.push("The episodes have no field task in their metadata: all have one task.");
  return { mapping: { ...mapping, ...draftRows(guesses), ...(!isNamed && { task: { text: task } }) }, notes };
}

function draftRows(guesses: readonly Guess[]) {
  const slowest = Math.min(...guesses.map(({ rateHz }) => rateHz));
  const cameras = guesses.filter(({ isPicture }) => isPicture).map(({ rateHz }) => rateHz);
  const fps =
    cameras.length > 0 ? Math.min(...cameras) : Math.min(USUAL_FPS, Math.max(...guesses.map((one) => one.rateHz)));
  return {
    fps: Math.min(1000, Math.max(1, Math.round(fps))),
    maxGapMs: Math.max(100, Math.ceil(1500 / slowest)),
    features: Object.fromEntries(nameFeatures(guesses)),
  };
}

interface Guess {
  readonly topic: string;
  readonly rateHz: number;
  readonly isPicture: boolean;
  readonly parts: readonly FeaturePart[];
}

interface Looking {
  readonly topics: readonly string[];
  /** Rates of the topics that may become features. */
  readonly rates: ReadonlyMap<string, number>;
}

interface Looked {
  readonly guesses: Guess[];
  /** The topics whose messages can be read. */
  readonly readable: string[];
}

async function guessAll(episode: Episode, { topics, rates }: Looking, notes: string[]): Promise<Looked> {
  const left = new Set(topics);
  const decode = decodeTopics();
  const looked: Looked = { guesses: [], readable: [] };
  let bytes = 0;
  for await (const message of episode.read(topics, episode)) {
    bytes += message.data.byteLength;
    const { topic } = message.channel;
    const note = left.delete(topic) && addTopic(looked, { topic, rateHz: rates.get(topic) }, decode(message));
    if (note) notes.push(`${topic} ${note}.`);
    if (left.size === 0 || bytes > MAX_BYTES) break;
  }
  for (const topic of left) notes.push(`${topic} has no message near the beginning of the first episode.`);
  looked.guesses.sort((a, b) => (a.topic < b.topic ? -1 : 1));
  looked.readable.sort();
  return looked;
}

/** Returns why a topic is not in the mapping, or not in its features, as the end of a sentence. */
function addTopic({ guesses, readable }: Looked, { topic, rateHz }: DraftTopic, read: () => Value): string | undefined {
  const value = tryDecode(read);
  if (value instanceof Error) return `cannot be read: ${value.message.replace(/\.$/, "")}`;
  readable.push(topic);
  if (rateHz === undefined) return undefined;
  const guess = guessTopic(topic, value);
  if (typeof guess === "string") return guess;
  guesses.push({ topic, rateHz, ...guess });
  return undefined;
}

function tryDecode(read: () => Value): Value | Error {
  try {
    return read();
  } catch (error) {
    if (error instanceof DecodeError || error instanceof TrainingError) return error;
    throw error;
  }
}

type Guessed = Pick<Guess, "isPicture" | "parts">;

/** Returns the parts of a topic, or why there are none, as the end of a sentence. */
function guessTopic(topic: string, value: Value): Guessed | string {
  if (isPicture(value)) return { isPicture: true, parts: [{ topic, align: "nearest" }] };
  if (isLog(value)) return "has a text with each of its numbers";
  const joints = guessJoints(topic, value);
  if (joints) return { isPicture: false, parts: [joints] };
  const fields = findNumbers(value, "");
  const count = fields.reduce((sum, field) => sum + field.count, 0);
  if (count === 0) return "has no numbers and no picture in JPEG or PNG";
  if (count > MAX_NUMBERS) return `has ${count} numbers in a message, so its fields have to be chosen by hand`;
  return { isPicture: false, parts: fields.map(({ path }) => (path === "" ? { topic } : { topic, field: path })) };
}

function isPicture(value: Value): boolean {
  try {
    findPicture({ topic: "" }, value);
    return true;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof NoValueError) return false;
    throw error;
  }
}

/** Lines of a log have a level. */
function isLog(value: Value): boolean {
  return ["message", "msg"].some((name) => typeof partOf(value, name) === "string");
}

/** Joints are taken by their names, because their order may change. */
function guessJoints(topic: string, value: Value): FeaturePart | undefined {
  const [names, position] = [partOf(value, "name"), partOf(value, "position")];
  if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string")) return undefined;
  const count = Array.isArray(position) || isNumberArray(position) ? position.length : 0;
  if (count !== names.length) return undefined;
  return { topic, field: "position", byName: { names: "name", select: names as string[] } };
}

/** More values than a state has are a scan or a map. */
const MAX_NUMBERS = 64;
const MAX_DEPTH = 8;
/** Fields that say when, where from or how surely something was measured. */
const OTHER = /^(header|stamp|timestamp|time|seq|layout|.*covariance.*)$/;

interface Numbers {
  readonly path: string;
  readonly count: number;
}

/** Finds the fields that have numbers and nothing else, each as high up as possible. */
function findNumbers(value: Value, path: string, depth = 0): Numbers[] {
  if (typeof value === "number" || typeof value === "bigint") return [{ path, count: 1 }];
  if (isNumberArray(value)) return value.length > 0 ? [{ path, count: value.length }] : [];
  if (Array.isArray(value)) {
    const isNumbers = value.length > 0 && value.every((one) => typeof one === "number" || typeof one === "bigint");
    return isNumbers ? [{ path, count: value.length }] : [];
  }
  if (!isStruct(value) || depth > MAX_DEPTH) return [];
  const keys = Object.keys(value);
  const wanted = keys.filter((key) => !OTHER.test(key));
  const inner = wanted.map((key) => findNumbers(value[key]!, path === "" ? key : `${path}.${key}`, depth + 1));
  const isWhole = wanted.length === keys.length && inner.every((found) => found.length === 1 && found[0]!.count === 1);
  const found = inner.flat();
  return isWhole && path !== "" ? [{ path, count: found.length }] : found;
}

const IS_ACTION = /(^|[/_])(action|command|cmd|leader)/i;

/** Gives the features the names that trainers look for. */
function nameFeatures(guesses: readonly Guess[]): [string, Feature][] {
  const numbers = guesses.filter((guess) => !guess.isPicture);
  const states = numbers.filter(({ topic }) => !IS_ACTION.test(topic));
  const actions = numbers.filter(({ topic }) => IS_ACTION.test(topic));
  const named = (of: readonly Guess[], only: string, prefix: string): [string, Feature][] =>
    of.map(({ topic, parts }) => {
      const name = of.length === 1 ? only : `${prefix}.${slugOf(topic)}`;
      return [name, { dtype: "float32", parts: [...parts] }];
    });
  const cameras = guesses.filter((guess) => guess.isPicture);
  return [
    ...named(states, "observation.state", "observation"),
    ...named(actions, "action", "action"),
    ...cameras.map(({ topic, parts }): [string, Feature] => [
      `observation.images.${slugOf(topic)}`,
      { dtype: "image", parts: [...parts] },
    ]),
  ];
}

function slugOf(topic: string): string {
  const words = topic.replace(/\/(compressed|image_raw|image)(?=\/|$)/g, "").replaceAll(/[^\w]+/g, "_");
  return words.replace(/^_+|_+$/g, "").slice(0, 100) || "topic";
}
