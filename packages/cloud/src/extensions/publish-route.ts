import { apiKey, MAX_EXTENSION_BYTES } from "@downlink/protocol";
import type { Hono } from "hono";
import { BlobTooLarge } from "../blobs/blob-errors.ts";
import type { Deps } from "../context.ts";
import { requestBody } from "../data-plane/request-body.ts";
import type { Env } from "../http/env.ts";
import { contentLength, requireOctetStream } from "../http/octet-stream.ts";
import { openContext } from "../http/serve.ts";
import { publishExtension } from "./publish-extension.ts";

const access = apiKey("extensions.create", "organization");

/** `POST /v1/extension-upload`: takes the raw package, of at most 64 MiB. */
export function publishRoute(app: Hono<Env>, deps: Deps): void {
  app.post("/v1/extension-upload", async (c) => {
    const ctx = await openContext(c, deps, access);
    requireOctetStream(c);
    const expectedBytes = contentLength(c);
    if (expectedBytes !== undefined && expectedBytes > MAX_EXTENSION_BYTES) throw new BlobTooLarge(MAX_EXTENSION_BYTES);
    return c.json(await publishExtension(ctx, { body: requestBody(c), expectedBytes }));
  });
}
