export { type GetOptions, getStream } from "./get-stream.ts";
export { type Proxies, proxyFor } from "./proxy-for.ts";
export { type PutOptions, type PutResult, putStream } from "./put-stream.ts";
export { type UndiciTransport, undiciTransport } from "./undici-transport.ts";
export type { WayOut } from "./way-out.ts";
