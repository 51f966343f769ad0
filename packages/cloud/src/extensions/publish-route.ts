import { apiKey, extensionUpload, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import type { Hono } from "hono";
import { BlobTooLarge } from "../blobs/blob-errors.ts";
import type { Ctx, Deps } from "../context/context.ts";
import { requestBody } from "../data-plane/request-body.ts";
import { answerOnce } from "../http/answer-once.ts";
import type { Env } from "../http/env.ts";
import { contentLength, requireOctetStream } from "../http/octet-stream.ts";
import { openContext } from "../http/serve.ts";
import { publishStored, storePackage } from "./publish-extension.ts";

const access = apiKey(extensionUpload.access.capability, "organization");

/** `POST /v1/extension-upload`: takes the raw package, of at most 64 MiB. */
export function publishRoute(app: Hono<Env>, deps: Deps): void {
  app.post(extensionUpload.path, async (c) => {
    const ctx = await openContext(c, deps, access);
    requireOctetStream(c);
    const expectedBytes = contentLength(c);
    if (expectedBytes !== undefined && expectedBytes > MAX_EXTENSION_BYTES) throw new BlobTooLarge(MAX_EXTENSION_BYTES);
    await using stored = await storePackage(ctx, { body: requestBody(c), expectedBytes });
    const answer = async (inside: Ctx) => JSON.stringify(await publishStored(inside, stored));
    const again = async (_inside: Ctx, id: string | null) => JSON.stringify({ id });
    return await answerOnce(c, ctx, { operation: extensionUpload, input: stored.sha256, answer, again });
  });
}
