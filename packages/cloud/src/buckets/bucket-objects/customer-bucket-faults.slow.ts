import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { whyNoCeph } from "../../store/bucket-uploads/testing/run-ceph.ts";
import { replaceInItsMiddle } from "./testing/replace-in-middle.ts";
import { requireUnavailable } from "./testing/require-unavailable.ts";
import { anotherMcap, type Customer, startCustomer } from "./testing/start-customer.ts";
import { visitBucket } from "./visit-bucket.ts";

const skip = whyNoCeph();
// Without a real S3 every test is skipped, and none of these is used.
const { cloud, ceph, proxy, makeSite } = skip === undefined ? await startCustomer({ after }) : ({} as Customer);

const COUNT = 3000;
const PAGE = 1000;
const MAX_NAME_BYTES = 1024;

/** Makes names in the order of their bytes; those at the borders of pages are odd, and as long as names can be. */
function nameOf(at: number): string {
  const name = `${String(at).padStart(4, "0")} a+b%2F&ü`;
  const fromBorder = Math.min(at % PAGE, PAGE - (at % PAGE));
  if (fromBorder > 3) return name;
  const left = MAX_NAME_BYTES - Buffer.byteLength(name);
  return name + "+%&ü".repeat(left / 5) + "x".repeat(left % 5);
}

async function exportOf(recordingId: string): Promise<Response> {
  const { link } = await cloud.admin.call(api.exports.create, { recordingId });
  return fetch(link);
}

test("a listing of 3,000 objects goes on where it was interrupted, and has every name of every page once", {
  skip,
}, async () => {
  const site = await makeSite();
  const rules = [{ pattern: "**", action: { type: "ignore" as const } }];
  await cloud.admin.call(api.ingestPathPolicies.save, { id: site.siteId, schemaVersion: 1, rules });
  const names = Array.from({ length: COUNT }, (_, at) => nameOf(at));
  await runSomeAtOnce(names, 32, (name) => site.put(name, Buffer.from("x")));

  const stopping = new AbortController();
  const isPage = (call: string) => call.includes("list-type=2") && !call.includes("max-keys=1&");
  let pages = 0;
  proxy.setFaults((call) => {
    if (isPage(call) && ++pages === 2) stopping.abort(new Error("interrupted"));
    return "forward";
  });
  await assert.rejects(visitBucket(cloud.deps, site.siteId, { signal: stopping.signal, lists: true }), /interrupted/);
  const { bucketObject } = cloud.deps.db.prisma;
  assert.equal(await bucketObject.count({ where: { siteId: site.siteId } }), PAGE);
  assert.equal(await site.scan(), undefined);
  const rows = await bucketObject.findMany({ where: { siteId: site.siteId }, orderBy: { name: "asc" } });
  assert.deepEqual(
    rows.map(({ name, state }) => [name, state]),
    names.map((name) => [name, "ignored"]),
  );
  assert.equal(pages, 4, "the first page was not listed again");
  assert.equal(await site.scan(), undefined);
  assert.ok(!proxy.calls().some((call) => call.startsWith("HEAD") && call.includes("a%2Bb")), "nobody looked at any");
});

test("an export whose object is replaced in its middle breaks off, and mixes nothing in", { skip }, async (t) => {
  t.after(() => proxy.setFaults(() => "forward"));
  await replaceInItsMiddle({ ...(await makeSite()), proxy, exportOf });
});

// Last, because Ceph makes no bucket for half a minute after its gateway was killed.
test("a bucket that is away says nothing: recordings stay as they are, and are served again when it is back", {
  skip,
}, async () => {
  const site = await makeSite();
  const bytes = await anotherMcap();
  for (const name of ["a.mcap", "b.mcap"]) await site.put(name, name === "a.mcap" ? bytes : await anotherMcap());
  await site.scan();
  const before = await site.recordings();
  const requests = await cloud.admin.call(api.pendingImports.list, { siteId: site.siteId, showCompleted: true });
  const request = requests.find(({ filename }) => filename === "a.mcap");
  const path = `/v1/data/pending-imports/${request!.requestId}/file`;
  const download = () => fetch(`${cloud.url}${path}`, { headers: { authorization: `Bearer ${cloud.adminKey}` } });
  assert.deepEqual(Buffer.from(await (await download()).arrayBuffer()), Buffer.from(bytes));

  await ceph.stopGateway();
  const { siteId } = site;
  const problem = await visitBucket(cloud.deps, siteId, { signal: AbortSignal.timeout(60_000), lists: true });
  requireUnavailable(await site.recordings(), before, problem);
  const refused = await exportOf(before[0]!.id).then(
    ({ status }) => status,
    ({ status }: { status: number }) => status,
  );
  assert.ok(refused >= 500, `answered ${refused}`);
  assert.ok((await download()).status >= 500);

  await ceph.restartGateway();
  await site.remove("b.mcap");
  assert.equal(await site.scan(), undefined);
  const [a, b] = await site.recordings();
  assert.deepEqual([a, b!.failure?.code], [before[0], "ObjectGone"]);
  assert.match(b!.failure!.text, /not in the customer's bucket any more/);
  assert.equal((await exportOf(a!.id)).status, 200);
});

test("Ceph's log knows of not one write or delete", { skip }, async () => {
  const calls = await ceph.callsOfReader();
  assert.deepEqual(
    calls.filter((call) => !/^(GET|HEAD) /.test(call)),
    [],
  );
  assert.ok(calls.length > 0);
});
