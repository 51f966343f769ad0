import { makeDecode } from "@downlink/messages/decode";
import type { Channel, Message } from "@downlink/messages/read-mcap";
import { type Decode, DecodeError, type Value } from "@downlink/messages/value";
import { TrainingError } from "../episodes/episode.ts";

const MAX_VALUES = 2_000_000;

/** Decodes a message when its value is first asked for, and then keeps it. */
export type DecodeMessage = (message: Message) => () => Value;

/** Makes a decoder that remembers the schemas of the channels that it has seen. */
export function decodeTopics(): DecodeMessage {
  const decoders = new Map<Channel, Decode>();
  return (message) => {
    let value: Value | undefined;
    return () => {
      if (value !== undefined) return value;
      const { channel, data } = message;
      const decode = decoders.get(channel) ?? makeFor(channel);
      decoders.set(channel, decode);
      value = decode(data);
      return value;
    };
  };
}

function makeFor(channel: Channel): Decode {
  try {
    return makeDecode(channel, { maxValues: MAX_VALUES });
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    const { topic, messageEncoding, schemaName } = channel;
    throw new TrainingError(
      `the topic ${topic} (${messageEncoding || "no encoding"}, ${schemaName || "no schema"}) cannot be read: ${error.message}`,
    );
  }
}
