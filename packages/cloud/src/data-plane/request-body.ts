import type { Context } from "hono";
import type { Env } from "../http/env.ts";

/** How long a sender may send nothing. Slow is fine: 32 kB/s is a valid network. */
const STALL_MS = 60_000;

/**
 * The raw body as it comes in, from Node's own stream: the web stream costs two to three times the CPU. A consumer that stops
 * early leaves the connection standing, so that its refusal can still be answered; a sender that goes away, or that sends
 * nothing for `stallMs`, makes it throw.
 */
export async function* requestBody(c: Context<Env>, stallMs = STALL_MS): AsyncGenerator<Uint8Array, void> {
  const { incoming } = c.env;
  const { socket } = incoming; // Node takes it from a request that fails
  socket.setTimeout(stallMs); // nobody listens for it, and so Node destroys the socket
  try {
    yield* incoming.iterator({ destroyOnReturn: false });
  } finally {
    socket.setTimeout(0);
  }
}
