import type { Context } from "hono";
import type { Logger } from "pino";
import { z } from "zod";
import type { Batches } from "../db/in-batches.ts";
import type { Env } from "./env.ts";
import { streamBody } from "./stream-response.ts";

export function isBatches(answered: unknown): answered is Batches<unknown> {
  return typeof answered === "object" && answered !== null && Symbol.asyncIterator in answered;
}

/** Answers with a JSON array, no faster than the receiver takes it; one batch of it is in memory. */
export function streamList(
  c: Context<Env>,
  batches: Batches<unknown>,
  { response, log }: { response: z.ZodType; log: Logger },
): Promise<Response> {
  return streamBody(c, encodeList(batches, response), {
    headers: { "content-type": "application/json" },
    onFailure: (error) => log.error({ err: error, requestId: c.get("requestId") }, "a list broke off"),
  });
}

async function* encodeList(batches: Batches<unknown>, response: z.ZodType): AsyncGenerator<Uint8Array> {
  let isEmpty = true;
  let sizeChars = 0;
  for (;;) {
    const { value: items, done } = await batches.next(sizeChars);
    if (done) break;
    const text = JSON.stringify(z.encode(response, items)).slice(1, -1);
    sizeChars = text.length;
    if (sizeChars === 0) continue;
    yield Buffer.from(`${isEmpty ? "[" : ","}${text}`);
    isEmpty = false;
  }
  yield Buffer.from(isEmpty ? "[]" : "]");
}
