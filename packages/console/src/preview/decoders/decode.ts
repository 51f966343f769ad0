import { decodeJson } from "./json.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { decodeRos1 } from "./ros1.ts";
import { decodeRos2 } from "./ros2.ts";
import { type Decode, DecodeError } from "./value.ts";

export interface Encoded {
  readonly messageEncoding: string;
  readonly schemaEncoding: string;
  readonly schemaName: string;
  readonly schema: Uint8Array;
}

/** Chooses by the names of MCAP's registry. source: https://mcap.dev/spec/registry */
export function makeDecode({ messageEncoding, schemaEncoding, schemaName, schema }: Encoded): Decode {
  switch (messageEncoding) {
    case "json":
      return decodeJson();
    case "protobuf":
      return decodeProtobuf(schema, schemaName);
    case "ros1":
      return decodeRos1(schema);
    case "cdr":
      if (schemaEncoding === "ros2msg") return decodeRos2(schema);
      throw new DecodeError(`Messages whose schema is in ${schemaEncoding || "no known language"} are not shown.`);
    default:
      throw new DecodeError(`Messages in ${messageEncoding || "no known encoding"} are not shown.`);
  }
}
