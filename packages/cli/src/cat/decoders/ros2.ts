import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import type { Decode } from "./decoding.ts";
import { jsonText } from "./json-text.ts";

export function decodeRos2(schema: Uint8Array): Decode {
  const reader = new MessageReader(parse(new TextDecoder().decode(schema), { ros2: true }));
  return (data) => jsonText(reader.readMessage(data));
}
