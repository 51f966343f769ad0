import type { ExportSession } from "../export/export-session.ts";
import type { ExportSource } from "../export/plan/export-options.ts";
import { channelIdAt, endOf, type Fragment } from "../export/rewrite/fragment.ts";
import { freeMemory, freeOwn } from "../memory/free-memory.ts";
import { type DigestedTopic, TopicDigest } from "./digest-topic.ts";
import { openWhole, type ReadingOptions, readInOrder } from "./read-in-order.ts";

/** Reads a whole recording, and answers what each of its topics has, in the order in which they appear. Throws as `exportMcap` does. */
export async function digestTopics(source: ExportSource, options: ReadingOptions = {}): Promise<DigestedTopic[]> {
  await using session = openWhole(source, options);
  const topics = new Map<string, TopicDigest>();
  for await (const output of readInOrder(session)) {
    if (output.kind === "opened") continue;
    const { ids } = session;
    const digestOf = (channelId: number): TopicDigest => {
      const topic = ids.topicOf(channelId);
      const digest = topics.get(topic) ?? new TopicDigest();
      topics.set(topic, digest);
      return digest;
    };
    const fragment = output.kind === "huge" ? output.head : output.fragment;
    addAll(fragment, digestOf);
    if (output.kind === "huge") {
      const digest = digestOf(channelIdAt(fragment, 0));
      for await (const piece of output.open()) {
        digest.update(piece);
        freeOwn(piece);
      }
    }
    freeMemory(fragment.records);
  }
  return endAll(topics.values(), session);
}

function addAll(fragment: Fragment, digestOf: (channelId: number) => TopicDigest): void {
  const { starts, timesNs, records } = fragment;
  for (let index = 0; index < starts.length; index += 1) {
    const channelId = channelIdAt(fragment, starts[index]!);
    const digest = digestOf(channelId);
    digest.count(channelId, timesNs[index]!);
    digest.update(records.subarray(starts[index], endOf(fragment, index)));
  }
}

function endAll(digests: Iterable<TopicDigest>, { ids }: ExportSession): DigestedTopic[] {
  return Array.from(digests, (digest) => digest.end(ids));
}
