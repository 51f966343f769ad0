// A body is read from Node's stream, and answers are written to it (`calls/answers/stream-response.ts`), because web streams cost two to three times
// the CPU. So middleware before these routes must set its headers before `next()`.

import type { Context } from "hono";
import type { Env } from "../connections/env.ts";
import { CallerGoneError } from "../connections/new-gone-signal.ts";

/** How long a sender may send nothing. A slow sender is accepted: 32 kB/s is a valid network. */
const STALL_MS = 60_000;

/**
 * Yields the raw body as it arrives, from Node's own stream, because the web stream costs two to three times the CPU. A piece is valid
 * until the next one is requested, also for those to whom it is passed on. If a consumer stops early the connection stays open, so that its
 * refusal can still be answered; a sender that goes away, or that sends nothing for `stallMs`, makes this throw a `CallerGoneError`.
 */
export async function* requestBody(c: Context<Env>, stallMs = STALL_MS): AsyncGenerator<Uint8Array, void> {
  const { incoming } = c.env;
  const { socket } = incoming; // Node removes it from a request that fails
  socket.setTimeout(stallMs); // the event has no listener, so Node destroys the socket
  try {
    for await (const piece of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer<ArrayBuffer>>) {
      yield piece;
      free(piece);
    }
  } catch (error) {
    throw incoming.destroyed ? new CallerGoneError() : error;
  } finally {
    socket.setTimeout(0);
  }
}

/**
 * Frees the memory at once, and not when V8 collects garbage: V8 scans the whole heap whenever 64 MB outside of it were allocated and
 * released, which takes as long as all the rest of receiving them. Memory that a piece shares with others is left alone.
 */
function free({ buffer, byteLength }: Buffer<ArrayBuffer>): void {
  if (buffer.byteLength === byteLength) buffer.transfer(0);
}
