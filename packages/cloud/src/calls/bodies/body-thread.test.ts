import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { api } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";
import { openBodyThread } from "./body-thread.ts";
import { type BodyOperation, decodeBody } from "./decode-body.ts";

const { create } = api.layouts as { create: BodyOperation };
const { report } = api.edge as { report: BodyOperation };
const thread = openBodyThread();
after(() => thread[Symbol.asyncDispose]());

const layout = (data: string, more = "") => `{"name":"n","permission":"ORG_WRITE","data":${data}${more}}`;
const versionId = "a".repeat(64);
const cases: [what: string, operation: BodyOperation, body: string | Buffer][] = [
  ["data as its text", create, layout('{"big":12345678901234567890,"b":1e400,"10":-0,"9":"\\ud800é😀"}')],
  ["times, and names that nothing reads", create, layout("{}", ',"savedAt":"2026-01-01T00:00:00.123456789Z","odd":1')],
  ["fields that are wrong", create, layout("[]", ',"id":""')],
  ["nulls and defaults", report, `{"sequence":1,"upserts":[],"removals":null,"deletions":null}`],
  ["items that are wrong", report, `{"sequence":0,"upserts":[{},{"versionId":"${versionId}"}]}`],
  ["no JSON", create, layout("{]")],
  ["no object", create, "[1]"],
  ["no UTF-8", create, Buffer.from([0x7b, 0xff, 0x7d])],
];
for (const [what, operation, body] of cases)
  test(`a body is decoded in a thread as it is decoded here: ${what}`, async () => {
    const bytes = () => new Uint8Array(Buffer.from(body as string));
    const asOutcome = (error: Error) => ({ ...error, message: error.message });
    const inThread = await thread.decode({ operation, bytes: bytes() }).catch(asOutcome);
    const here = await (async () => decodeBody({ operation, bytes: bytes() }))().catch(asOutcome);
    assert.deepEqual(inThread, here);
  });

test("other work is done while a body is decoded", async () => {
  const body = layout(`{"a":[1${",1".repeat(400_000)}]}`);
  const decoding = thread.decode({ operation: create, bytes: new Uint8Array(Buffer.from(body)) });
  const first = await Promise.race([decoding, setImmediate("other work")]);
  assert.equal(first, "other work");
  await decoding;
});

test("a large body comes to its operation through the thread, and so does its refusal", async (t) => {
  const cloud = await startCloud(t, { works: false });
  const send = (body: string) =>
    fetch(`${cloud.url}/v1/layouts`, {
      method: "POST",
      headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
      body: body + " ".repeat(100_000),
    });
  const made = await send(layout('{"a":1.10}'));
  assert.match(await made.text(), /"data":\{"a":1\.10\}\}$/);
  const refused = await send(layout("[]"));
  assert.deepEqual([refused.status, ((await refused.json()) as { code: string }).code], [400, "InvalidRequest"]);
});
