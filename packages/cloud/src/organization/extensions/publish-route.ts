import { apiKey, extensionUpload, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import type { Context, Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { requestBody } from "../../calls/data-plane/request-body.ts";
import { answerOnce, wasAnswered } from "../../calls/serve/answer-once.ts";
import { contentLength, requireOctetStream } from "../../calls/serve/octet-stream.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { ApiError } from "../../core/errors.ts";
import { BlobTooLargeError } from "../../store/blobs/blob-errors.ts";
import { hashPackage, publishStored, storePackage } from "./publish-extension.ts";

const access = apiKey(extensionUpload.access.capability, "organization");

/** Serves `POST /v1/extension-upload`, which accepts the raw package of at most 64 MiB. */
export function publishRoute(app: Hono<Env>, deps: Deps): void {
  app.post(extensionUpload.path, async (c) => {
    const ctx = await openContext(c, deps, access);
    requireOctetStream(c);
    const expectedBytes = contentLength(c);
    if (expectedBytes !== undefined && expectedBytes > MAX_EXTENSION_BYTES)
      throw new BlobTooLargeError(MAX_EXTENSION_BYTES);
    if (await wasAnswered(c, ctx)) return await repeatPublish(c, ctx);
    await using stored = await storePackage(ctx, { body: requestBody(c), expectedBytes });
    const answer = async (inside: Ctx) => JSON.stringify(await publishStored(inside, stored));
    return await answerOnce(c, ctx, { operation: extensionUpload, input: stored.sha256, answer, again: answerAgain });
  });
}

/** A repeat stores nothing, so that it needs no space: only the SHA-256 of its bytes matters. */
async function repeatPublish(c: Context<Env>, ctx: Ctx): Promise<Response> {
  const input = await hashPackage(requestBody(c));
  return await answerOnce(c, ctx, { operation: extensionUpload, input, answer: forgotten, again: answerAgain });
}

async function answerAgain(_ctx: Ctx, id: string | null): Promise<string> {
  return JSON.stringify({ id });
}

/** The kept answer expired while the bytes arrived. */
function forgotten(): never {
  const sentence = "the answer to the first call with this Idempotency-Key is no longer kept; send the package again";
  throw new ApiError("Unavailable", sentence, { retryAfterSeconds: 1 });
}
