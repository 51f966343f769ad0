import type { Encoded } from "@downlink/messages/decode";
import type { Decode } from "./decoding.ts";
import { jsonText } from "./json-text.ts";

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

async function chooseDecode(encoded: Encoded): Promise<Decode> {
  const { messageEncoding, schemaName, schema } = encoded;
  switch (messageEncoding) {
    case "json":
      return decodeJson;
    case "protobuf":
      return (await import("./protobuf.ts")).decodeProtobuf(schema, schemaName);
    default:
      return decodeByShared(encoded);
  }
}

/** A program has more memory than a page. */
const MAX_VALUES = 2_000_000;

async function decodeByShared(encoded: Encoded): Promise<Decode> {
  const { makeDecode } = await import("@downlink/messages/decode");
  const decode = makeDecode(encoded, { maxValues: MAX_VALUES });
  return (data) => jsonText(decode(data));
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** The text stays as it was written, because parsing changes large numbers. In JSON, line breaks are only between values. */
function decodeJson(data: Uint8Array): string {
  const text = decoder.decode(data);
  JSON.parse(text);
  return text.trim().replaceAll(/[\r\n]+/g, " ");
}
