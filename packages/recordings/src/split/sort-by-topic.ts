import type { ExportSession } from "../export/export-session.ts";
import { channelIdAt, endOf, type Fragment } from "../export/rewrite/fragment.ts";
import { freeMemory } from "../memory/free-memory.ts";
import type { readInOrder } from "./read-in-order.ts";
import type { SpillFile } from "./spill-file.ts";
import { TopicMessages } from "./topic-messages.ts";

/** A topic with so many bytes in memory is moved to the file at once. */
const BLOCK_BYTES = 1024 * 1024;
/** All topics hold at most about so much. Then those that hold most are moved, until half of it is left. */
const MOST_HELD_BYTES = 32 * 1024 * 1024;

/**
 * Puts the messages of each topic into blocks of one file, whatever the number of topics: that many files are never open, and small topics
 * stay in memory until there is no more room. Answers the topics in the order in which they appear.
 */
export async function sortByTopic(
  outputs: ReturnType<typeof readInOrder>,
  { ids }: Pick<ExportSession, "ids">,
  file: SpillFile,
): Promise<TopicMessages[]> {
  const topics = new Map<string, TopicMessages>();
  const byChannel = new Map<number, TopicMessages>();
  const topicOf = (channelId: number): TopicMessages => {
    const known = byChannel.get(channelId);
    if (known) return known;
    const name = ids.topicOf(channelId);
    const topic = topics.get(name) ?? new TopicMessages();
    topics.set(name, topic);
    byChannel.set(channelId, topic);
    return topic;
  };
  for await (const output of outputs) {
    if (output.kind === "opened") continue;
    if (output.kind === "messages") await addAll(output.fragment, topicOf, file);
    else await addHuge(output, topicOf, file);
    await makeRoom(topics.values(), file);
  }
  for (const topic of topics.values()) await topic.spill(file);
  return [...topics.values()];
}

type TopicOf = (channelId: number) => TopicMessages;

async function addAll(fragment: Fragment, topicOf: TopicOf, file: SpillFile): Promise<void> {
  const { starts, timesNs, records } = fragment;
  for (let index = 0; index < starts.length; index += 1) {
    const start = starts[index]!;
    const channelId = channelIdAt(fragment, start);
    const topic = topicOf(channelId);
    topic.digest.count(channelId, timesNs[index]!);
    topic.add(records, start, endOf(fragment, index));
    if (topic.heldBytes >= BLOCK_BYTES) await topic.spill(file);
  }
  freeMemory(records);
}

interface Huge {
  readonly head: Fragment;
  open(): AsyncIterable<Uint8Array>;
}

async function addHuge({ head, open }: Huge, topicOf: TopicOf, file: SpillFile): Promise<void> {
  const channelId = channelIdAt(head, 0);
  const topic = topicOf(channelId);
  topic.digest.count(channelId, head.timesNs[0]!);
  await topic.spillHuge(file, head.records, open());
}

async function makeRoom(topics: Iterable<TopicMessages>, file: SpillFile): Promise<void> {
  const all = [...topics];
  let heldBytes = all.reduce((sum, topic) => sum + topic.heldBytes, 0);
  if (heldBytes <= MOST_HELD_BYTES) return;
  for (const topic of all.sort((a, b) => b.heldBytes - a.heldBytes)) {
    if (heldBytes <= MOST_HELD_BYTES / 2) return;
    heldBytes -= topic.heldBytes;
    await topic.spill(file);
  }
}
