import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { setQuotas } from "../../calls/quotas/set-quotas.ts";
import { turnLimits } from "../../process/limits/turns.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { exports, links } = deps.turns;
const START = 1_760_000_000_000_000_000n;
/** The recording is larger than all buffers on the way. */
const topics = [{ topic: "/camera", kind: "blob" as const, rateHz: 10, sizeBytes: 500_000 }];
const large = await makeMcap({ startNs: START, durationSeconds: 8, topics, compression: "" });
const { recordingId } = await uploadFile(cloud, large, { filename: "large.mcap", deviceName: "robot" });
const { orgId } = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
const sockets = new Set<Socket>();
after(closeAll);

function closeAll(): void {
  for (const socket of sockets) socket.destroy();
}

async function newLink(): Promise<string> {
  return (await admin.call(api.exports.create, { recordingId: recordingId!, compressionFormat: "" })).link;
}

/** Requests the link, and reads nothing of the answer. */
async function askUnread(link: string): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(link);
  const socket = connect(Number(port), hostname).pause();
  sockets.add(socket);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
  return socket;
}

const running = (count: number) =>
  eventually(
    async () => exports.countOf(orgId),
    (found) => found === count,
  );

async function readWhole(link: string): Promise<number> {
  const response = await fetch(link);
  await response.arrayBuffer();
  return response.status;
}

async function refusal(link: string) {
  const response = await fetch(link);
  const { code, error } = ErrorBody.parse(await response.json());
  return { status: response.status, code, error, retryAfter: Number(response.headers.get("retry-after")) };
}

test("more simultaneous exports than an organization may have are 409 QuotaReached, with the limit and the time to wait", async () => {
  await setQuotas(deps, orgId, { maxExports: 2 });
  const link = await newLink();
  await Promise.all([askUnread(link), askUnread(await newLink())]);
  await running(2);
  const { error, ...refused } = await refusal(await newLink());
  assert.deepEqual(refused, { status: 409, code: "QuotaReached", retryAfter: 60 });
  assert.match(error, /has 2 exports at once already/);
});

test("a download that is cut off frees its place, and so does one that ends", async () => {
  closeAll();
  await running(0);
  const link = await newLink();
  const cut = await askUnread(link);
  const read = await fetch(await newLink());
  await running(2);
  assert.equal((await refusal(link)).code, "QuotaReached");
  await read.arrayBuffer();
  await running(1);
  assert.equal(await readWhole(link), 200);
  cut.destroy();
  await running(0);
});

test("a link that nobody opens, one that fails at its start, and a HEAD request occupy no place", async () => {
  closeAll();
  const link = await newLink();
  await newLink();
  assert.equal((await fetch(link, { method: "HEAD" })).status, 200);
  const { blobKey } = await deps.db.prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  const { open } = deps.blobs;
  deps.blobs.open = () => Promise.reject(new Error("EIO"));
  const broken = await fetch(link).finally(() => Object.assign(deps.blobs, { open }));
  assert.equal(broken.status, 500, blobKey!);
  await running(0);
  assert.equal(await readWhole(link), 200);
});

test("of 200 requests at the same moment four may use one link, of which two are sent; others wait, and the rest are refused before they are looked at", async (t) => {
  await setQuotas(deps, orgId, { maxExports: null });
  closeAll();
  await running(0);
  const link = await newLink();
  const opened = t.mock.method(deps.blobs, "open");
  const { perOwner, waiting } = turnLimits.links;
  const unread = await Promise.all(Array.from({ length: 200 }, () => askUnread(link)));
  const answers = unread.map((socket) => firstLine(socket));
  const refused = await eventually(
    async () => answers.filter(({ line }) => line?.includes(" 503 ")).length,
    (count) => count === 200 - perOwner - waiting,
  );
  assert.equal(refused, 200 - perOwner - waiting);
  await running(perOwner);
  const signature = new URL(link).searchParams.get("s")!.slice(0, -1);
  assert.equal(links.countOf(signature), perOwner + waiting);
  const opensOfOne = opened.mock.callCount() / (turnLimits.exports.perToken ?? perOwner);
  assert.ok(opensOfOne <= 2, `${opensOfOne} objects opened for each`);
  assert.equal(await readWhole(await newLink()), 200, "another link of the same organization is served");
  closeAll();
  await running(0);
});

test("an export that nobody reads gives its place to another one, of any organization", async (t) => {
  const one = { ...turnLimits.readExports, atOnce: 1 };
  const narrow = await startCloud(t, { limits: { turns: { ...turnLimits, readExports: one } } });
  const { readExports, exports: all } = narrow.deps.turns;
  const upload = await uploadFile(narrow, large, { filename: "large.mcap", deviceName: "robot" });
  const where = { id: upload.recordingId! };
  const { orgId: owner } = await narrow.deps.db.prisma.recording.findUniqueOrThrow({ where });
  const body = { recordingId: upload.recordingId!, compressionFormat: "" as const };
  const [unread, wanted] = [
    await narrow.admin.call(api.exports.create, body),
    await narrow.admin.call(api.exports.create, body),
  ];
  const socket = await askUnread(unread.link);
  const begun = await eventually(
    async () => [all.countOf(owner), readExports.countOf(owner)],
    ([sent, read]) => sent === 1 && read === 0,
  );
  assert.deepEqual(begun, [1, 0]);
  assert.equal(await readWhole(wanted.link), 200);
  socket.destroy();
});

/** Reads the first line of an answer, and no more. */
function firstLine(socket: Socket): { line?: string } {
  const answer: { line?: string } = {};
  socket.once("data", (bytes) => {
    answer.line = bytes.toString("latin1").split("\r\n", 1)[0]!;
    socket.pause();
  });
  socket.resume();
  return answer;
}
