import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createTestDatabase } from "@downlink/cloud/testing";
import { runCeph, whyNoCeph } from "@downlink/cloud/testing/run-ceph";
import { api } from "@downlink/protocol";
import { openPlant } from "./processes/plant.ts";
import { startProgram } from "./processes/program.ts";
import { whyNotInCi } from "./replicas/why-not-in-ci.ts";

const skip = whyNoCeph() ?? whyNotInCi();
const ceph = skip === undefined ? await runCeph() : undefined;
after(() => ceph?.[Symbol.asyncDispose]());

const OBJECTS = 100_000;
/** The objects of one folder are imported: each is looked at by a request of its own. */
const FOLDERS = 50;
/** To fill the bucket takes most of it. */
const LONGEST_MS = 1_800_000;
const MOST_BYTES = 300e6;
/**
 * A listing that kept its names would not fit into it. Without a limit the loading of the program takes the most memory: V8 collects what
 * it leaves behind only later.
 */
const HEAP_MIB = 80;
const BYTES_PER_KIB = 1024;
/** The program prints when it ends how much memory it had at most, in KiB. `maxRSS` would be that of its parent, where that one is larger. */
const PRINT_MEMORY = `data:text/javascript,import { readFileSync } from 'node:fs';
  process.on('exit', () => console.log('most', /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]))`;

test("100,000 objects of a real bucket are listed, and a fiftieth taken up, with at most 300 MB", {
  skip,
  timeout: LONGEST_MS,
}, async (t) => {
  const DATABASE_URL = await createTestDatabase(t);
  const plant = await openPlant(t, ceph!, { DATABASE_URL, DOWNLINK_LIST_BUCKETS: "0" });
  await using cloud = await plant.serve();
  const names = Array.from({ length: OBJECTS }, (_, at) => `robots/${at % FOLDERS}/drive ${at}.mcap`);
  for (let at = 0; at < OBJECTS; at += OBJECTS / 10) {
    await ceph!.fill(plant.bucket, names.slice(at, at + OBJECTS / 10), Buffer.from("x"));
    console.log(`${at + OBJECTS / 10} objects are in the bucket`); // a silent test looks as if it hangs
  }
  const { output } = await plant.site("create-byob", "plant", ...plant.place);
  const id = /site_\w+/.exec(output)?.[0] ?? assert.fail(output);

  for (const [counted, rules] of [
    [`ignored: ${OBJECTS}`, [{ pattern: "**", action: { type: "ignore" } }]],
    [`requested: ${OBJECTS / FOLDERS}`, [{ pattern: "robots/7/*.mcap", action: { type: "import" } }]],
  ] as const) {
    await cloud.admin.call(api.ingestPathPolicies.save, { id, schemaVersion: 1, rules: [...rules] });
    await using scan = startProgram({
      script: "cloud/src/main.ts",
      args: ["admin", "site", "scan", "plant"],
      env: { DOWNLINK_LOG_LEVEL: "error", DOWNLINK_PORT: "0", ...plant.env },
      nodeArgs: ["--import", PRINT_MEMORY, `--max-old-space-size=${HEAP_MIB}`],
    });
    assert.equal(await scan.ended, 0, scan.output());
    assert.match(scan.output(), new RegExp(`^${counted}$`, "m"));
    const mostBytes = Number(/^most (\d+)$/m.exec(scan.output())![1]) * BYTES_PER_KIB;
    t.diagnostic(`${counted}: at most ${(mostBytes / 1e6).toFixed(0)} MB`);
    assert.ok(mostBytes <= MOST_BYTES, `${mostBytes} bytes`);
  }
});
