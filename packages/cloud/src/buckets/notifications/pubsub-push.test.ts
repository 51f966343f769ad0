import assert from "node:assert/strict";
import { test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { PubsubPush, PubsubTokens, readPubsub } from "./pubsub-push.ts";

const sender = { audience: "https://downlink.example/inbox", serviceAccount: "push@project.iam.gserviceaccount.com" };
const nowMs = Date.parse("2026-01-01T00:00:00Z");
const google = await generateKeyPair("RS256");
const published = [{ ...(await exportJWK(google.publicKey)), kid: "first" }];
let fetches = 0;
const fetchKeys = async () => {
  fetches += 1;
  return JSON.stringify({ keys: published });
};
const tokens = new PubsubTokens(fetchKeys);

const claims = {
  iss: "https://accounts.google.com",
  aud: sender.audience,
  email: sender.serviceAccount,
  email_verified: true,
  iat: nowMs / 1000 - 60,
  exp: nowMs / 1000 + 3600,
};
const sign = (over: object = {}, { kid = "first", key = google.privateKey } = {}) =>
  new SignJWT({ ...claims, ...over }).setProtectedHeader({ alg: "RS256", kid }).sign(key);

test("a token of Pub/Sub for the audience and of the service account is right, and Google's keys are fetched once", async () => {
  for (let n = 0; n < 3; n += 1) assert.equal(await tokens.findFault(await sign(), sender, nowMs), undefined);
  assert.equal(fetches, 1);
});

for (const [name, over] of Object.entries({
  "for another audience": { aud: "https://elsewhere.example" },
  "of another issuer": { iss: "https://evil.example" },
  "of another service account": { email: "other@project.iam.gserviceaccount.com" },
  "of an account whose address nobody verified": { email_verified: false },
  "that has expired": { exp: nowMs / 1000 - 1 },
}))
  test(`a token ${name} is not right`, async () => {
    assert.match((await tokens.findFault(await sign(over), sender, nowMs))!, /^the token of Pub\/Sub is /);
  });

test("a token that somebody else signed is not right, whatever key and algorithm it names", async () => {
  const other = await generateKeyPair("RS256");
  const text = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = `${text({ alg: "none" })}.${text(claims)}.`;
  const symmetric = await new SignJWT(claims)
    .setProtectedHeader({ alg: "HS256", kid: "first" })
    .sign(new TextEncoder().encode(JSON.stringify(published[0])));
  for (const token of [await sign({}, { key: other.privateKey }), unsigned, symmetric, "no token"])
    assert.match((await tokens.findFault(token, sender, nowMs))!, /not valid/);
});

test("a new key of Google is fetched, but unknown keys make us fetch at most once a minute", async () => {
  const next = await generateKeyPair("RS256");
  const token = await sign({}, { kid: "second", key: next.privateKey });
  const before = fetches;
  assert.match((await tokens.findFault(token, sender, nowMs + 1000))!, /not valid/);
  assert.equal(fetches, before);
  published.push({ ...(await exportJWK(next.publicKey)), kid: "second" });
  assert.equal(await tokens.findFault(token, sender, nowMs + 61_000), undefined);
  assert.equal(fetches, before + 1);
});

const push = (attributes: Record<string, string>) =>
  PubsubPush.parse({
    message: { messageId: "7", attributes, data: "e30=" },
    subscription: "projects/p/subscriptions/s",
  });

test("objects that come or go are read with their names as they are", () => {
  const name = "a+b %2F c/ü\u{1f916}.mcap";
  for (const eventType of ["OBJECT_FINALIZE", "OBJECT_DELETE", "OBJECT_ARCHIVE"])
    assert.deepEqual(readPubsub(push({ eventType, bucketId: "b", objectId: name })), [
      { messageId: "pubsub 7", providers: ["google_cloud"], bucketName: "b", fileName: name },
    ]);
  for (const attributes of [
    {},
    { eventType: "OBJECT_METADATA_UPDATE", bucketId: "b", objectId: "x" },
    { eventType: "OBJECT_FINALIZE" },
  ])
    assert.deepEqual(readPubsub(push(attributes as Record<string, string>)), []);
});
