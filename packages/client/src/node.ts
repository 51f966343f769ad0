export { type PutOptions, type PutResult, putStream } from "./put-stream.ts";
export { type UndiciTransport, undiciTransport } from "./undici-transport.ts";
