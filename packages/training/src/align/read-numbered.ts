import type { Message } from "@downlink/messages/read-mcap";
import type { Value } from "@downlink/messages/value";
import type { Episode } from "../episodes/episode.ts";
import { decodeTopics } from "./decode-topics.ts";
import { type Plan, type PlannedPart, topicsOf } from "./plan.ts";

interface Numbered {
  readonly message: Message;
  /** The number of the message among those of its topic, which is the same at each reading. */
  readonly ordinal: number;
  /** Decodes the message when it is first called. */
  readonly value: () => Value;
}

/** Yields the messages of the topics of some parts, and of others, as far around the episode as the plan needs them. */
export async function* readNumbered(
  { marginNs }: Plan,
  episode: Episode,
  { parts, others = [] }: { readonly parts: readonly PlannedPart[]; readonly others?: readonly string[] },
): AsyncGenerator<Numbered> {
  const decode = decodeTopics();
  const counts = new Map<string, number>();
  const topics = [...new Set([...topicsOf(parts), ...others])];
  const window = { startNs: episode.startNs - marginNs, endNs: episode.endNs + marginNs };
  for await (const message of episode.read(topics, window)) {
    const { topic } = message.channel;
    const ordinal = counts.get(topic) ?? 0;
    counts.set(topic, ordinal + 1);
    yield { message, ordinal, value: decode(message) };
  }
}
