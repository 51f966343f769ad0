import type { Channel, Message } from "@downlink/messages/read-mcap";
import type { Episode } from "../episodes/episode.ts";

/** A message in JSON. */
export interface MadeMessage {
  readonly topic: string;
  readonly atNs: bigint;
  readonly value: unknown;
}

interface Made extends Partial<Omit<Episode, "read">> {
  readonly messages: readonly MadeMessage[];
}

/** Makes an episode of messages in JSON, which it yields by time as an export does. */
export function makeEpisode({ messages, ...rest }: Made): Episode {
  const channels = new Map<string, Channel>();
  const sorted = [...messages].sort((a, b) => Number(a.atNs - b.atNs));
  const toMessage = ({ topic, atNs, value }: MadeMessage): Message => {
    const made = {
      topic,
      messageEncoding: "json",
      schemaName: "a",
      schemaEncoding: "jsonschema",
      schema: new Uint8Array(),
    };
    const channel = channels.get(topic) ?? made;
    channels.set(topic, channel);
    return { channel, logTimeNs: atNs, publishTimeNs: atNs, sequence: 0, data: Buffer.from(JSON.stringify(value)) };
  };
  const [first, last] = [sorted[0]?.atNs ?? 0n, sorted.at(-1)?.atNs ?? 0n];
  return {
    ...{
      id: "epi_1",
      startNs: first,
      endNs: last,
      metadata: { task: "pick" },
      recordings: [{ id: "rec_1", sha256: "ab" }],
    },
    ...rest,
    async *read(topics, { startNs, endNs }) {
      for (const message of sorted)
        if (topics.includes(message.topic) && startNs <= message.atNs && message.atNs <= endNs)
          yield toMessage(message);
    },
  };
}
