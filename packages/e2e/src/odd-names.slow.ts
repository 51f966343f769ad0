import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startScenario } from "./processes/scenario.ts";

test("files whose names are not UTF-8, look like an escape, or hold a line break are listed, imported and deleted like any others", async (t) => {
  const scenario = await startScenario(t);
  const { admin } = scenario.cloud();
  await admin.call(api.devices.update, { nameOrId: scenario.deviceId, autoDeleteAfterImport: true });
  const onDisk = (name: string) => Buffer.from(`${scenario.storageRoot}/${name}`, "latin1");
  mkdirSync(onDisk("caf\xe9"));
  const names: Record<string, string> = {
    "caf\xe9/\xff\xfe.mcap": "caf\\xe9/\\xff\\xfe.mcap",
    "\\xff.mcap": "\\x5cxff.mcap",
    "\xff.mcap": "\\xff.mcap",
    "two\nlines.mcap": "two\nlines.mcap",
  };
  const sums = new Map<string, string>();
  for (const [index, [name, path]] of Object.entries(names).entries()) {
    const bytes = await makeMcap({ seed: index + 1, startNs: BigInt(index + 1) * 1_000_000_000_000n });
    writeFileSync(onDisk(name), bytes);
    sums.set(path, createHash("sha256").update(bytes).digest("hex"));
  }
  writeFileSync(onDisk("caf\xe9/noise\xe9.bag"), "no recording");
  scenario.startAgent();
  const found = await eventually(scenario.recordings, (all) => all.length === sums.size);
  assert.deepEqual(found.map(({ path }) => path).sort(), [...sums.keys()].sort());
  const others = await eventually(
    () => admin.call(api.edgeFiles.list, {}),
    (all) => all.some(({ state }) => state === "damaged"),
  );
  assert.deepEqual(
    others.map(({ path }) => path),
    ["caf\\xe9/noise\\xe9.bag"],
  );
  for (const { id } of found) await admin.call(api.recordings.requestImport, { keyOrId: id });
  await eventually(scenario.recordings, (all) => all.every(({ importStatus }) => importStatus === "complete"));
  const stored = (await scenario.storedObjects()).map(({ sha256 }) => sha256);
  assert.deepEqual(stored.sort(), [...sums.values()].sort());
  await eventually(
    async () => Object.keys(names).filter((name) => existsSync(onDisk(name))),
    (left) => left.length === 0,
  );
});
