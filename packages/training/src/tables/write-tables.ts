// Every message of some topics, unaligned, as tables.

import { type Episode, TrainingError } from "../episodes/episode.ts";
import type { EpisodeReport } from "../report/describe-episode.ts";
import { type SetOptions, writeJson } from "../report/set-options.ts";
import { type TableLimits, tableLimits } from "./table.ts";
import { TopicTables } from "./topic-tables.ts";

/** It is raised by hand whenever the same input gives other bytes. */
export const PARQUET_WRITER_VERSION = 1;

/** The topics that are written at a time, which have their files open together. More of them are read in several turns. */
const TOPICS_A_TURN = 8;

/** Writes the tables of a mapping's topics. Throws {@link TrainingError} for schemas that cannot be read, and where there is no message. */
export async function writeTopicTables(
  { mapping, episodes, about, open, onEpisode }: SetOptions,
  limits: TableLimits = tableLimits,
): Promise<EpisodeReport[]> {
  const topics = mapping.topics ?? [];
  if (topics.length === 0) throw new TrainingError("the mapping has no topics, whose messages would be written");
  const counted = new Map<string, Counted>();
  for (let from = 0; from < topics.length; from += TOPICS_A_TURN) {
    const turn = topics.slice(from, from + TOPICS_A_TURN);
    const isLast = from + turn.length === topics.length;
    const tables = new TopicTables(open, limits);
    let done = 0;
    for await (const episode of episodes) {
      const counts = counted.get(episode.id) ?? { episode, byTopic: new Map() };
      counted.set(episode.id, counts);
      await addEpisode(tables, turn, counts);
      done += 1;
      await onEpisode?.(isLast ? done : 0);
    }
    await tables.close();
  }
  const reports = [...counted.values()].map((counts) => describe(topics, counts));
  if (reports.every(({ rowCount }) => rowCount === 0))
    throw new TrainingError("no episode has a message of the topics");
  await writeJson(open, "downlink.json", { ...about, mapping, episodes: reports.map(({ kept }) => kept) });
  return reports;
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

function describe(topics: readonly string[], { episode, byTopic }: Counted): EpisodeReport {
  const { id: episodeId, recordings } = episode;
  const counts = topics.map((topic) => ({ topic, ...byTopic.get(topic)! }));
  const rowCount = counts.reduce((sum, { messages }) => sum + messages, 0);
  const bad = counts.filter(({ unreadable }) => unreadable > 0);
  const unread = bad.map(
    ({ topic, unreadable, reason }) => `${unreadable} messages of ${topic} cannot be read: ${reason}`,
  );
  const leftOut = rowCount === 0 ? "it has no message of the topics" : unread.join("; ") || undefined;
  const messages = Object.fromEntries(counts.map((count) => [count.topic, count.messages]));
  return {
    ...{ episodeId, rowCount, pieceCount: rowCount > 0 ? 1 : 0, trimmedStart: 0, trimmedEnd: 0 },
    ...{ gaps: [], leftOut, parts: [], warnings: [], kept: { episodeId, recordings, messages, leftOut } },
  };
}
