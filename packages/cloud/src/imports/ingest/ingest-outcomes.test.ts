import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap, slowTest } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { endOfImport, putFile, uploadFile } from "../../testing/upload-file.ts";
import { ingest } from "./pipeline.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const robot = await admin.call(api.devices.create, { name: "robot" });
const eio = Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" });

test("while the store fails the import is tried again with a growing delay that is shown, and is never quarantined", async (t) => {
  const idle = await startCloud({ after }, { works: false });
  const { link, requestId } = await idle.admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  assert.equal((await putFile(link, await makeMcap({ durationSeconds: 1 }))).status, 200);
  const pending = async () => {
    await ingest(idle.deps, requestId, new AbortController().signal);
    return (await idle.admin.call(api.pendingImports.list, { requestId, showCompleted: true }))[0]!;
  };
  const broken = t.mock.method(idle.deps.blobs, "open", () => Promise.reject(eio));
  for (const attempts of [1, 2, 3]) {
    const found = await pending();
    assert.deepEqual([found.attempts, found.terminal, found.quarantinedAt], [attempts, false, undefined]);
    const delayNs = found.nextAttemptAt! - found.updatedAt;
    assert.ok(delayNs >= SECOND * 2n ** BigInt(attempts - 1) && delayNs <= SECOND * 2n ** BigInt(attempts));
  }
  broken.mock.restore();
  const ended = await pending();
  assert.deepEqual([ended.status, ended.attempts, ended.nextAttemptAt], ["complete", 4, undefined]);
});

slowTest("a transaction that the database refuses once is repeated without anybody asking", async (t) => {
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "b.mcap", deviceId: robot.id });
  await deps.db.pool.query(`
    CREATE SEQUENCE refusals;
    CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('refusals') = 1 THEN RAISE EXCEPTION 'disk full' USING ERRCODE = '53100'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse_once BEFORE INSERT ON "Recording" FOR EACH ROW EXECUTE FUNCTION refuse_once()`);
  t.after(() => deps.db.pool.query('DROP TRIGGER refuse_once ON "Recording"; DROP SEQUENCE refusals'));
  assert.equal((await putFile(link, await makeMcap({ durationSeconds: 2 }))).status, 200);
  const ended = await endOfImport(cloud, requestId);
  assert.deepEqual([ended.status, ended.attempts, ended.quarantinedAt], ["complete", 2, undefined]);
});

test("a file that can never be processed is quarantined at once: its object is kept, and the reason says what it lacks", async () => {
  const whole = await makeMcap({ durationSeconds: 1 });
  const files: [string, Uint8Array, RegExp][] = [
    ["rubbish.mcap", Buffer.from("this is no recording"), /./],
    ["cut.bag", whole.subarray(0, 20), /./],
    ["without-messages.mcap", await makeMcap({ topics: [] }), /no message/],
  ];
  for (const [filename, bytes, reason] of files) {
    const ended = await uploadFile(cloud, bytes, { filename, deviceId: robot.id });
    assert.deepEqual([ended.status, ended.attempts, ended.terminal], ["error", 1, true], filename);
    assert.ok(ended.quarantinedAt !== undefined && ended.pipelineStage);
    assert.match(ended.error!, reason);
    const { blobKey } = await deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: ended.requestId } });
    assert.equal((await deps.blobs.stat(blobKey!))?.sizeBytes, bytes.length);
  }
});

test("a long reason is stored as far as it can be searched and sorted by", async () => {
  const key = "鍵".repeat(680);
  const body = { filename: "long.mcap", deviceId: robot.id, key };
  const first = await uploadFile(cloud, await makeMcap({ durationSeconds: 3 }), body);
  const second = await uploadFile(cloud, await makeMcap({ durationSeconds: 4 }), body);
  assert.ok(second.error!.startsWith(`recording ${first.recordingId} has the key already`));
  const [found] = await admin.call(api.pendingImports.errors, { error: second.error! });
  assert.equal(found!.requestId, second.requestId);
});
