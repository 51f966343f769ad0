import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import type { Recording } from "@downlink/protocol";
import { eventually, makeMcap, readIndexedMessages } from "@downlink/recordings/testing";
import { type Checkout, commandsBelow, openCheckout } from "./processes/page-commands.ts";

const skip = whyNoCeph();
const ceph = skip === undefined ? await runCeph() : undefined;
after(() => ceph?.[Symbol.asyncDispose]());

const PAGE = "docs/guides/operator/bring-your-own-bucket.md";
const START_NS = 1_760_000_000_000_000_000n;

test("the page's way from a bucket to an exported span works as it is written, over a real S3", { skip }, async (t) => {
  const [start, makeSite, policy, exported] = commandsBelow(PAGE, "## Start with the bucket that you have");
  const checkout = await openCheckout(t);
  const recording = await makeMcap({ startNs: START_NS, durationSeconds: 6 });
  const { run } = await startOverBucket(checkout, { start: start![0]!, objects: { "runs/rover-1/a.mcap": recording } });

  const [create, check] = makeSite as [string, string];
  const [SITE] = /site_\w+/.exec(await run(create))!;
  assert.equal(await run(check), "lists: yes\nreads: yes\n");

  const [write, tryOut, save, scan] = policy as [string, string, string, string];
  await run(write);
  assert.equal(await run(tryOut), 'import\t"runs/rover-1/a.mcap"\trule 0\trover-1\n');
  assert.match(await run(save, { SITE }), /"revision":1/);
  await run(scan);

  const [list, fetchSlice] = exported as [string, string];
  const [found] = await eventually(
    async () => JSON.parse(await run(list)) as Shown[],
    ([first]) => first?.importStatus === "complete",
  );
  assert.equal(found!.device.name, "rover-1");
  const at = (second: number) => new Date(Number(START_NS / 1_000_000n) + second * 1000).toISOString();
  await run(fetchSlice, { ID: found!.id, START: at(1), END: at(2) });
  const slice = await readIndexedMessages(await readFile(join(checkout.folder, "slice.mcap")));
  const isWithin = ({ logTimeNs }: { logTimeNs: bigint }) =>
    logTimeNs >= START_NS + 1_000_000_000n && logTimeNs <= START_NS + 2_000_000_000n;
  assert.equal(slice.length, (await readIndexedMessages(recording)).filter(isWithin).length);
  assert.ok(slice.length > 0);
  const calls = await ceph!.callsOfReader();
  assert.ok(calls.length > 0 && calls.every((call) => /^(GET|HEAD) /.test(call)), "not one write");
});

type Shown = Pick<Recording, "id" | "importStatus"> & { readonly device: { readonly name: string } };

interface Beginning {
  /** The command that starts the control plane. */
  readonly start: string;
  readonly objects: Readonly<Record<string, Uint8Array>>;
}

/**
 * Starts a control plane beside a bucket with objects. The commands of the page run with the bucket, port and key of this test in place of
 * the page's.
 */
async function startOverBucket(checkout: Checkout, { start, objects }: Beginning) {
  const { endpoint, reader, makeBucket, letRead } = ceph!;
  const bucket = await makeBucket();
  await letRead(bucket);
  for (const [name, bytes] of Object.entries(objects)) await put(checkout.folder, `${bucket}/${name}`, bytes);
  const credentials = {
    DOWNLINK_BUCKET_PLANT_ACCESS_KEY_ID: reader.accessKeyId,
    DOWNLINK_BUCKET_PLANT_SECRET_ACCESS_KEY: reader.secretAccessKey,
  };
  const served = checkout.begin(start, { ...credentials, DOWNLINK_PORT: "0" });
  const [, port] = await served.printed(/Downlink serves at http:\/\/127\.0\.0\.1:(\d+)/);
  const KEY = (await readFile(join(checkout.folder, ".data/admin.key"), "utf8")).trim();
  const here = (command: string) =>
    command
      .replaceAll("8080", port!)
      .replace("https://s3.example.org", endpoint)
      .replace("--bucket robots", `--bucket ${bucket}`);
  return { run: (command: string, more = {}) => checkout.run(here(command), { ...credentials, KEY, ...more }) };
}

/** The customer's own client puts an object into the bucket. */
async function put(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const file = join(folder, "object");
  await writeFile(file, bytes);
  const user = `${ceph!.owner.accessKeyId}:${ceph!.owner.secretAccessKey}`;
  const signing = [
    "--aws-sigv4",
    "aws:amz:us-east-1:s3",
    "--user",
    user,
    "-H",
    "x-amz-content-sha256: UNSIGNED-PAYLOAD",
  ];
  await promisify(execFile)("curl", ["-sSf", ...signing, "-T", file, `${ceph!.endpoint}/${path}`]);
}
