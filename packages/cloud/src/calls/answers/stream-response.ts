// A failure in the middle of the stream destroys the socket; before the first byte it is still answered with its status.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { StatusCode } from "hono/utils/http-status";
import { abortable } from "../../core/abortable.ts";
import type { Env } from "../connections/env.ts";
import { CallerGoneError } from "../connections/new-gone-signal.ts";

/** How long a receiver may accept nothing while bytes wait for it. */
const STALL_MS = 5 * 60_000;

export interface StreamOptions {
  readonly headers: Record<string, string>;
  /** The default is 200. */
  readonly status?: StatusCode;
  /** Aborted when the receiver goes away, so that the work for it can stop. */
  readonly controller?: AbortController;
  /** Called for a failure after the first byte, which no status can report any more. */
  readonly onFailure: (error: unknown) => void;
  readonly stallMs?: number;
  /** Called with pieces that are not needed here any more: at least with each that is as large as the connection's buffer. */
  readonly onSent?: (piece: Uint8Array) => void;
}

/**
 * Answers with the pieces as they come, no faster than the receiver accepts them. A failure before the first piece is thrown and can still
 * be answered; a later one aborts the connection, so that a cut body is never taken for a whole one. HEAD gets the headers, and `body` is
 * not begun. Middleware must set its headers before `next()`, because the headers are sent here.
 */
export async function streamBody(
  c: Context<Env>,
  body: AsyncIterable<Uint8Array>,
  options: StreamOptions,
): Promise<Response> {
  const head = c.body(null, options.status ?? 200, { "Cache-Control": "private, no-transform", ...options.headers });
  if (c.req.method === "HEAD") return head;
  const { outgoing } = c.env;
  const controller = options.controller ?? new AbortController();
  const onClose = () => controller.abort(new CallerGoneError());
  outgoing.once("close", onClose);
  if (outgoing.destroyed) onClose(); // the connection was closed before this was called
  outgoing.setTimeout(options.stallMs ?? STALL_MS, () => {
    if (outgoing.writableNeedDrain) outgoing.destroy();
  });
  try {
    const pieces = abortable(body, controller.signal);
    await writeBody(outgoing, { head, pieces, signal: controller.signal, onSent: options.onSent });
  } catch (error) {
    if (!outgoing.headersSent && !outgoing.destroyed) throw error;
    outgoing.destroy();
    const cause: unknown = controller.signal.aborted ? controller.signal.reason : error;
    if (!(cause instanceof CallerGoneError)) options.onFailure(cause);
  } finally {
    outgoing.off("close", onClose);
  }
  return RESPONSE_ALREADY_SENT;
}

interface Body {
  readonly head: Response;
  readonly pieces: AsyncIterable<Uint8Array>;
  readonly signal: AbortSignal;
  readonly onSent: StreamOptions["onSent"];
}

async function writeBody(outgoing: ServerResponse, { head, pieces, signal, onSent }: Body): Promise<void> {
  for await (const piece of pieces) {
    if (outgoing.destroyed) throw new CallerGoneError(); // writing would emit an error that has no listener
    sendHead(outgoing, head);
    if (outgoing.write(piece)) continue; // it waits beside others
    await once(outgoing, "drain", { signal });
    onSent?.(piece);
  }
  sendHead(outgoing, head);
  outgoing.end();
}

/** The head is sent with the first piece, so that a failure before it can still choose its status. */
function sendHead(outgoing: ServerResponse, head: Response): void {
  if (!outgoing.headersSent) outgoing.writeHead(head.status, Object.fromEntries(head.headers));
}
