import { decodeProtobuf } from "./protobuf.ts";
import { decodeRos1, decodeRos2 } from "./ros.ts";
import { type Decode, DecodeError, type Limits, type Value } from "./value.ts";

export interface Encoded {
  readonly messageEncoding: string;
  readonly schemaEncoding: string;
  readonly schemaName: string;
  readonly schema: Uint8Array;
}

/** Chooses by the names of MCAP's registry. source: https://mcap.dev/spec/registry */
export function makeDecode(
  { messageEncoding, schemaEncoding, schemaName, schema }: Encoded,
  limits: Limits = {},
): Decode {
  switch (messageEncoding) {
    case "json":
      return decodeJson();
    case "protobuf":
      return decodeProtobuf(schema, schemaName, limits);
    case "ros1":
      return decodeRos1(schema, limits);
    case "cdr":
      if (schemaEncoding === "ros2msg") return decodeRos2(schema, limits);
      throw new DecodeError(`Messages whose schema is in ${schemaEncoding || "no known language"} cannot be decoded.`);
    default:
      throw new DecodeError(`Messages in ${messageEncoding || "no known encoding"} cannot be decoded.`);
  }
}

/** Two characters of JSON can take fifty bytes of memory. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

function decodeJson(): Decode {
  return (data) => {
    if (data.byteLength > MAX_JSON_BYTES)
      throw new DecodeError(`The message has more than ${MAX_JSON_BYTES} bytes of JSON.`);
    try {
      return JSON.parse(new TextDecoder().decode(data)) as Value;
    } catch (cause) {
      throw new DecodeError("The message is not JSON.", { cause });
    }
  };
}
