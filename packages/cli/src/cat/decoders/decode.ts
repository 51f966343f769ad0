import type { Decode, Encoded } from "./decoding.ts";

/**
 * Chooses by the names of MCAP's registry; each decoder is loaded when a channel needs it. A schema that cannot be read makes a decoder that
 * refuses every message. source: https://mcap.dev/spec/registry
 */
export async function makeDecode(encoded: Encoded): Promise<Decode> {
  try {
    return await chooseDecode(encoded);
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

async function chooseDecode({ messageEncoding, schemaEncoding, schemaName, schema }: Encoded): Promise<Decode> {
  switch (messageEncoding) {
    case "json":
      return decodeJson;
    case "protobuf":
      return (await import("./protobuf.ts")).decodeProtobuf(schema, schemaName);
    case "ros1":
      return (await import("./ros1.ts")).decodeRos1(schema);
    case "cdr":
      if (schemaEncoding === "ros2msg") return (await import("./ros2.ts")).decodeRos2(schema);
      throw new Error(`messages whose schema is in ${schemaEncoding || "no known language"} are not decoded`);
    default:
      throw new Error(`messages in ${messageEncoding || "no known encoding"} are not decoded`);
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text stays as it was written, because parsing changes large numbers. In JSON, line breaks are only between values. */
function decodeJson(data: Uint8Array): string {
  const text = decoder.decode(data);
  JSON.parse(text);
  return text.trim().replaceAll(/[\r\n]+/g, " ");
}
