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
    throw explainUnreadable(channel, error);
  }
}

/** Makes the error for a topic out of one of its schema, and returns others as they are. */
export function explainUnreadable({ topic, messageEncoding, schemaName }: Channel, error: unknown): unknown {
  if (!(error instanceof DecodeError)) return error;
  const schema = `${messageEncoding || "no encoding"}, ${schemaName || "no schema"}`;
  return new TrainingError(`the topic ${topic} (${schema}) cannot be read: ${error.message}`);
}
