import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { z } from "zod";
import { documentedApi } from "../api.ts";
import { toOpenApi } from "../openapi/openapi.ts";
import { webhookEvents } from "./webhook-events.ts";
import { type WebhookEventType, webhookEventTypes } from "./webhooks.ts";

interface Described {
  readonly post: {
    readonly operationId: string;
    readonly requestBody: { readonly content: Record<string, { readonly schema: object; readonly example: unknown }> };
    readonly responses: object;
  };
}

const service = { title: "Downlink", version: "0", description: "Tested", serverUrl: "https://downlink.internal" };
const document = toOpenApi(documentedApi, service) as {
  readonly openapi: string;
  readonly webhooks: Record<string, Described>;
};
const types: readonly (WebhookEventType | "ping")[] = [...webhookEventTypes, "ping"];

test("the OpenAPI document has one webhook for each event type, and for `ping`", () => {
  assert.equal(document.openapi, "3.1.0");
  assert.deepEqual(Object.keys(document.webhooks), types);
});

test("the guide for developers names each event type, and `ping`", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../../docs/guides/developer/webhooks.md"), "utf8");
  for (const type of types) assert.ok(page.includes(`\`${type}\``), type);
});

for (const type of types)
  test(`the body of ${type} has the contract's schema, and an example that fits it`, () => {
    const { content } = document.webhooks[type]!.post.requestBody;
    const { schema, example } = content["application/json"]!;
    const { body } = webhookEvents[type];
    assert.deepEqual(
      z.encode(body, z.decode(body, example as never)),
      example,
      "the example has each field and no other",
    );
    const { properties } = schema as { readonly properties: Record<string, unknown> };
    assert.deepEqual(Object.keys(properties), Object.keys(body.shape));
    assert.partialDeepStrictEqual(properties, { type: { const: type } });
    assert.deepEqual(Object.keys(document.webhooks[type]!.post.responses), ["410", "2XX", "default"]);
  });
