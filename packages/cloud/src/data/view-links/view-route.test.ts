import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages, readMessages, slowTest } from "@downlink/recordings/testing";
import { setQuotas } from "../../calls/quotas/set-quotas.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const START = 1_760_000_000_000_000_000n;
const VIEWER = "https://viewer.example";
const cloud = await startCloud({ after }, { environment: { DOWNLINK_LINK_ORIGINS: VIEWER } });
const { admin, deps } = cloud;
const source = await makeMcap({ startNs: START, durationSeconds: 4 });
const { recordingId } = await uploadFile(cloud, source, { filename: "a.mcap", deviceName: "robot" });
const { orgId } = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
const newView = (more = {}) => admin.call(api.viewLinks.create, { recordingId: recordingId!, ...more });

async function refusal(response: Response) {
  return [response.status, ErrorBody.parse(await response.json()).code];
}

test("a view link streams its selection as an export does, as often as it is opened, and nothing may cache that", async () => {
  const end = START + 1_000_000_000n;
  const { link, fileName } = await newView({ topics: ["/imu"], end });
  const wanted = readMessages(source).filter(({ topic, logTimeNs }) => topic === "/imu" && logTimeNs <= end);
  for (const _time of [1, 2]) {
    const response = await fetch(link);
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.ok(response.headers.get("content-disposition")!.includes(`filename="${fileName}"`));
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.equal(readMessages(bytes).length, wanted.length);
    assert.deepEqual(await readIndexedMessages(bytes), readMessages(bytes));
  }
  const head = await fetch(link, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-type")], [200, "application/octet-stream"]);
});

test("a link that was altered, or is put before another view, is refused", async () => {
  const [one, other] = [await newView(), await newView()];
  assert.deepEqual(await refusal(await fetch(one.link.replace(one.id, other.id))), [403, "LinkRefused"]);
  assert.deepEqual(await refusal(await fetch(one.link.replace(/([?&]e=)\d+/, "$19999999999999"))), [
    403,
    "LinkRefused",
  ]);
  assert.deepEqual(await refusal(await fetch(one.link.split("?")[0]!)), [400, "InvalidLink"]);
});

test("only pages of an origin that the operator names may use a view link", async () => {
  const { link } = await newView();
  for (const [origin, allowed] of [
    [VIEWER, VIEWER],
    ["https://elsewhere.example", null],
  ] as const) {
    const preflight = await fetch(link, {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "GET" },
    });
    const response = await fetch(link, { headers: { origin } });
    await response.arrayBuffer();
    for (const { headers } of [preflight, response])
      assert.equal(headers.get("access-control-allow-origin"), allowed, origin);
  }
});

test("a view link counts among the simultaneous exports of an organization", async () => {
  const { link } = await newView();
  await setQuotas(deps, orgId, { maxExports: 0 });
  assert.deepEqual(await refusal(await fetch(link)), [409, "QuotaReached"]);
  await setQuotas(deps, orgId, { maxExports: null });
  assert.equal((await fetch(link, { method: "HEAD" })).status, 200);
});

slowTest("a running stream is cut when its link ends, and one of another link goes on", async () => {
  const topics = [{ topic: "/camera", kind: "blob" as const, rateHz: 10, sizeBytes: 500_000 }];
  const large = await makeMcap({ startNs: START, durationSeconds: 12, topics, compression: "" });
  const upload = await uploadFile(cloud, large, { filename: "large.mcap", deviceName: "robot" });
  const selection = { recordingId: upload.recordingId!, compressionFormat: "" as const };
  const [cut, whole] = [await newView(selection), await newView(selection)];
  const unread = await Promise.all([cut, whole].map(({ link }) => askUnread(link)));
  await running(2);
  await admin.call(api.viewLinks.delete, { id: cut.id });
  await running(1);
  const [ofCut, ofWhole] = await Promise.all(unread.map(readRest));
  assert.ok(!isWhole(ofCut!) && ofCut!.length < large.byteLength / 2, `${ofCut!.length} bytes came`);
  assert.ok(isWhole(ofWhole!), `${ofWhole!.length} bytes came`);
});

/** Requests the link, and reads nothing of the answer. */
async function askUnread(link: string): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(link);
  const socket = connect(Number(port), hostname).pause();
  await once(socket, "connect");
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
  return socket;
}

const running = (count: number) =>
  eventually(
    async () => deps.turns.exports.countOf(orgId),
    (found) => found === count,
  );

async function readRest(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  socket
    .on("data", (piece: Buffer) => pieces.push(piece))
    .on("error", () => {})
    .resume();
  await once(socket, "close");
  return Buffer.concat(pieces);
}

/** Says whether the chunked answer has its end. */
function isWhole(answer: Buffer): boolean {
  return answer.subarray(-5).toString("latin1") === "0\r\n\r\n";
}
