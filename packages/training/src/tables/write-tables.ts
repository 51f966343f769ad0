// Every message of some topics, unaligned, as tables.

import type { StructType, ValueType } from "@downlink/messages/describe-type";
import { type Episode, TrainingError } from "../episodes/episode.ts";
import type { EpisodeReport, PartReport, TableColumn } from "../report/describe-episode.ts";
import { type SetOptions, writeJson } from "../report/set-options.ts";
import { type TableLimits, tableLimits } from "./table.ts";
import { TopicTables } from "./topic-tables.ts";

/** It is raised by hand whenever the same input gives other bytes. */
export const PARQUET_WRITER_VERSION = 2;

/** The topics that are written at a time, which have their files open together. More of them are read in several turns. */
const TOPICS_A_TURN = 8;

/** Writes the tables of a mapping's topics. Throws {@link TrainingError} for schemas that cannot be read, and where there is no message. */
export async function writeTopicTables(
  options: SetOptions,
  limits: TableLimits = tableLimits,
): Promise<EpisodeReport[]> {
  const { mapping, about, open } = options;
  const reports = await writeTables(options, limits);
  if (reports.every(({ rowCount }) => rowCount === 0))
    throw new TrainingError("no episode has a message of the topics");
  await writeJson(open, "downlink.json", { ...about, mapping, episodes: reports.map(({ kept }) => kept) });
  return reports;
}

interface Writing extends Omit<SetOptions, "about"> {
  /** The reports name the topics with their columns. */
  readonly isTrial?: boolean;
}

/** Writes the tables alone. Throws {@link TrainingError} for schemas that cannot be read. */
export async function writeTables(
  { mapping, episodes, open, onEpisode, isTrial = false }: Writing,
  limits: TableLimits = tableLimits,
): Promise<EpisodeReport[]> {
  const topics = mapping.topics ?? [];
  if (topics.length === 0) throw new TrainingError("the mapping has no topics, whose messages would be written");
  const counted = new Map<string, Counted>();
  const found: Found = new Map();
  const turns = Math.ceil(topics.length / TOPICS_A_TURN);
  for (let at = 0; at < turns; at += 1) {
    const turn = topics.slice(at * TOPICS_A_TURN, (at + 1) * TOPICS_A_TURN);
    const tables = new TopicTables(open, limits);
    let done = 0;
    for await (const episode of episodes) {
      const counts = counted.get(episode.id) ?? { episode, byTopic: new Map() };
      counted.set(episode.id, counts);
      await addEpisode(tables, turn, counts);
      done += 1;
      await onEpisode?.(Math.floor((at * counted.size + done) / turns));
    }
    await tables.close();
    for (const topic of turn) found.set(topic, tables.describe(topic));
  }
  return [...counted.values()].map((counts) => describe(found, counts, isTrial));
}

interface Counted {
  readonly episode: Episode;
  readonly byTopic: Map<string, TopicCount>;
}

interface TopicCount {
  messages: number;
  unreadable: number;
  /** Why the first of those cannot be read. */
  reason?: string | undefined;
}

async function addEpisode(
  tables: TopicTables,
  topics: readonly string[],
  { episode, byTopic }: Counted,
): Promise<void> {
  const { id, startNs, endNs } = episode;
  for (const topic of topics) byTopic.set(topic, { messages: 0, unreadable: 0 });
  for await (const message of episode.read(topics, { startNs, endNs })) {
    const count = byTopic.get(message.channel.topic)!;
    const reason = await tables.add(message, id);
    count.messages += 1;
    if (reason !== undefined) count.unreadable += 1;
    count.reason ??= reason;
  }
}

/** By topic: the first table. */
type Found = Map<string, ReturnType<TopicTables["describe"]>>;

function describe(found: Found, { episode, byTopic }: Counted, isTrial: boolean): EpisodeReport {
  const { id: episodeId, recordings } = episode;
  const counts = Array.from(found.keys(), (topic) => ({ topic, ...byTopic.get(topic)! }));
  const rowCount = counts.reduce((sum, { messages }) => sum + messages, 0);
  const problems = counts.flatMap(({ topic, messages, unreadable, reason }) => {
    if (messages === 0) return [`it has no message of ${topic}`];
    return unreadable > 0 ? [`${unreadable} messages of ${topic} cannot be read: ${reason}`] : [];
  });
  const leftOut = rowCount === 0 ? "it has no message of the topics" : problems.join("; ") || undefined;
  const messages = Object.fromEntries(counts.map((count) => [count.topic, count.messages]));
  return {
    ...{ episodeId, rowCount, pieceCount: rowCount > 0 ? 1 : 0, trimmedStart: 0, trimmedEnd: 0 },
    ...{
      gaps: [],
      leftOut,
      parts: isTrial ? counts.map((count) => describeTopic(count, found.get(count.topic))) : [],
      warnings: [],
      kept: { episodeId, recordings, messages, leftOut },
    },
  };
}

function describeTopic(
  { topic, messages, unreadable, reason }: TopicCount & { readonly topic: string },
  table: ReturnType<TopicTables["describe"]>,
): PartReport {
  const { messageEncoding: encoding, schemaName } = table?.channel ?? {};
  const counts = { messageCount: messages - unreadable, withoutValue: unreadable, reason };
  const unknown = { feature: undefined, medianRateHz: undefined, greatestGapMs: undefined, shape: [] };
  return { ...unknown, topic, encoding, schemaName, ...counts, columns: table ? listColumns(table.fields) : [] };
}

/** Columns beyond these are not named. */
const MOST_NAMED = 200;

function listColumns(fields: StructType): TableColumn[] {
  return [...leavesOf("", fields).take(MOST_NAMED)];
}

function* leavesOf(name: string, type: ValueType): Generator<TableColumn> {
  if (typeof type === "string") yield { name, type };
  else if ("list" in type) yield* leavesOf(`${name}[]`, type.list);
  else for (const [field, inner] of type.fields) yield* leavesOf(name === "" ? field : `${name}.${field}`, inner);
}
