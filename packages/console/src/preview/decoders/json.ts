import { type Decode, DecodeError, type Value } from "./value.ts";

/** Two characters of JSON can take fifty bytes of memory. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;

export function decodeJson(): Decode {
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
