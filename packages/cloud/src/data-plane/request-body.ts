// A body is read from Node's stream and answers are written to it (`http/stream-response.ts`), because web streams
// cost two to three times the CPU. So middleware before these routes must set its headers before `next()`.

import type { Context } from "hono";
import type { Env } from "../http/env.ts";

/** How long a sender may send nothing. Slow is fine: 32 kB/s is a valid network. */
const STALL_MS = 60_000;

/**
 * The raw body as it comes in, from Node's own stream: the web stream costs two to three times the CPU. A piece holds until the
 * next one is asked for, also where it is given on. A consumer that stops early leaves the connection standing, so that its
 * refusal can still be answered; a sender that goes away, or that sends nothing for `stallMs`, makes it throw.
 */
export async function* requestBody(c: Context<Env>, stallMs = STALL_MS): AsyncGenerator<Uint8Array, void> {
  const { incoming } = c.env;
  const { socket } = incoming; // Node takes it from a request that fails
  socket.setTimeout(stallMs); // nobody listens for it, and so Node destroys the socket
  try {
    for await (const piece of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer<ArrayBuffer>>) {
      yield piece;
      free(piece);
    }
  } finally {
    socket.setTimeout(0);
  }
}

/**
 * At once, and not when V8 looks for garbage: it looks through the whole heap whenever 64 MB outside of it came and went, which
 * takes as long as all the rest of receiving them. Memory that a piece shares with others is left alone.
 */
function free({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength === byteLength) buffer.transfer(0);
}
