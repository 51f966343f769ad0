import type { Context } from "hono";
import type { Logger } from "pino";
import type { z } from "zod";
import type { Batches } from "../../db/read-in-batches.ts";
import type { Env } from "../connections/env.ts";
import { chooseCoding, encodePieces } from "./content-coding.ts";
import { encodeJson } from "./encode-json.ts";
import { sendJson } from "./send-json.ts";
import { streamBody } from "./stream-response.ts";

export function isBatches(answered: unknown): answered is Batches<unknown> {
  return typeof answered === "object" && answered !== null && Symbol.asyncIterator in answered;
}

/** Lists below this size are answered at once. */
const WHOLE_BYTES = 1024 * 1024;

interface StreamListOptions {
  /** The schema of the whole list. */
  readonly schema: z.ZodType;
  readonly mayBeKept: boolean;
  readonly log: Logger;
  /** Is called before the first byte, with the number of items if all are known by then. */
  readonly onCount?: ((count?: number) => Promise<void>) | undefined;
}

/**
 * Answers with a JSON array, no faster than the receiver accepts it, with one batch of it in memory. A small array is sent like other JSON.
 */
export async function streamList(
  c: Context<Env>,
  batches: Batches<unknown>,
  { schema, mayBeKept, log, onCount }: StreamListOptions,
): Promise<Response> {
  const seen = { items: 0 };
  const pieces = encodeList(batches, { schema, seen });
  const { gathered, isAll } = await gather(pieces);
  await onCount?.(isAll ? seen.items : undefined);
  if (isAll) return sendJson(c, Buffer.concat(gathered), { mayBeKept });
  const body = chainPieces(gathered, pieces);
  const coding = chooseCoding(c.req.header("accept-encoding"));
  const more: Record<string, string> = {
    ...(coding && { "content-encoding": coding }),
    ...(!mayBeKept && { "cache-control": "no-store" }),
  };
  return streamBody(c, coding ? encodePieces(body, coding) : body, {
    headers: { "content-type": "application/json", vary: "Authorization, Accept-Encoding", ...more },
    onFailure: (error) => log.error({ err: error, requestId: c.get("requestId") }, "a list broke off"),
  });
}

async function gather(pieces: AsyncGenerator<Uint8Array>): Promise<{ gathered: Uint8Array[]; isAll: boolean }> {
  const gathered: Uint8Array[] = [];
  for (let sizeBytes = 0; sizeBytes <= WHOLE_BYTES; ) {
    const { value, done } = await pieces.next();
    if (done) return { gathered, isAll: true };
    gathered.push(value);
    sizeBytes += value.byteLength;
  }
  return { gathered, isAll: false };
}

async function* chainPieces(
  first: readonly Uint8Array[],
  others: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* others;
}

async function* encodeList(
  batches: Batches<unknown>,
  { schema, seen }: { readonly schema: z.ZodType; readonly seen: { items: number } },
): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  let sizeChars = 0;
  for (;;) {
    const { value: items, done } = await batches.next(sizeChars);
    if (done) break;
    seen.items += items.length;
    const text = encodeJson(schema, items).slice(1, -1);
    sizeChars = text.length;
    if (sizeChars === 0) continue;
    yield Buffer.from(`${isEmpty ? "[" : ","}${text}`);
    isEmpty = false;
  }
  yield Buffer.from(isEmpty ? "[]" : "]");
}
