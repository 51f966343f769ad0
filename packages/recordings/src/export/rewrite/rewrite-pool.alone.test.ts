import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { FragmentBuilder } from "./fragment.ts";
import type { SealJob } from "./jobs.ts";
import { RewritePool } from "./rewrite-pool.ts";

function sealJob(sizeBytes = 20): SealJob {
  const builder = new FragmentBuilder();
  const data = new Uint8Array(sizeBytes);
  builder.addMessage({ channelId: 0, sequence: 0, logTimeNs: 7n, publishTimeNs: 7n, data }, 5);
  return { kind: "seal", fragment: builder.take(), compression: "zstd" };
}

test("lanes are served in turn, however many jobs wait in one of them", async () => {
  await using pool = new RewritePool({ threadCount: 1 });
  const done: string[] = [];
  const lanes = ["a", "b", "c"].map((name) => ({ name, lane: pool.openLane() }));
  const counts = { a: 12, b: 4, c: 4 };
  await Promise.all(
    lanes.flatMap(({ name, lane }) =>
      Array.from({ length: counts[name as keyof typeof counts] }, async () => {
        await lane.run(sealJob());
        done.push(name);
      }),
    ),
  );
  assert.equal(done.length, 20);
  for (const name of ["b", "c"]) assert.ok(done.lastIndexOf(name) < 13, done.join(""));
});

test("a job's result comes back, a failing job rejects, and the thread takes the next one", async () => {
  await using pool = new RewritePool({ threadCount: 1 });
  await using lane = pool.openLane();
  const { channels, startNs } = await lane.run(sealJob());
  assert.deepEqual([channels[0]?.channelId, startNs], [5, 7n]);
  const job = sealJob();
  await assert.rejects(lane.run({ ...job, fragment: { ...job.fragment, records: undefined as never } }), TypeError);
  await assert.rejects(lane.run({ ...sealJob(), compression: (() => "") as never }), { name: "DataCloneError" });
  assert.equal((await lane.run(sealJob())).startNs, 7n);
});

test("a closed lane rejects what waits in it, and leaves the others alone", async () => {
  await using pool = new RewritePool({ threadCount: 1 });
  const [closing, staying] = [pool.openLane(), pool.openLane()];
  const running = closing.run(sealJob(500_000));
  const waiting = [closing.run(sealJob()), closing.run(sealJob())];
  const other = staying.run(sealJob());
  const closed = closing[Symbol.asyncDispose]();
  for (const job of waiting) await assert.rejects(job, /the export was ended/);
  await assert.rejects(closing.run(sealJob()), /the export was ended/);
  await Promise.all([running, other, closed]);
});

test("a closed pool ends its threads and rejects everything", async () => {
  const pool = new RewritePool({ threadCount: 1 });
  const lane = pool.openLane();
  const jobs = [lane.run(sealJob()), lane.run(sealJob())].map((job) => assert.rejects(job));
  await pool[Symbol.asyncDispose]();
  await Promise.all(jobs);
  await assert.rejects(lane.run(sealJob()), /the export was ended/);
});

test("an idle pool does not keep its process alive", () => {
  const script = `
    import { FragmentBuilder } from ${JSON.stringify(new URL("./fragment.ts", import.meta.url))};
    import { RewritePool } from ${JSON.stringify(new URL("./rewrite-pool.ts", import.meta.url))};
    const builder = new FragmentBuilder();
    builder.addMessage({ channelId: 0, sequence: 0, logTimeNs: 7n, publishTimeNs: 7n, data: new Uint8Array(9) }, 5);
    const lane = new RewritePool().openLane();
    const { bytes } = await lane.run({ kind: "seal", fragment: builder.take(), compression: "" });
    console.log(bytes.byteLength);`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 20_000 });
  assert.ok(Number(output) > 100);
});
