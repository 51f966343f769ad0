import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { runAzurite, whyNoAzurite } from "@downlink/cloud/testing/run-azurite";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startControlPlane } from "./processes/control-plane.ts";
import { assertStored, importEachKind } from "./processes/import-each-kind.ts";
import { inContainer } from "./processes/in-container.ts";
import { startProgram } from "./processes/program.ts";
import { startScenario } from "./processes/scenario.ts";

const skip = whyNoAzurite();
const running = skip === undefined ? await runAzurite() : undefined;
after(() => running?.[Symbol.asyncDispose]());
const azurite = () => running!;

test("with its objects in a container of Azure, recordings are uploaded, imported and exported exactly", {
  skip,
}, async (t) => {
  const container = await azurite().makeContainer();
  const scenario = await startScenario(t, { cloudEnv: inContainer(azurite(), container) });
  await importEachKind(scenario);
  await assertStored(scenario, await azurite().readBlobs(container));
});

test("a container that cannot be used stops the start and says why, without a secret", { skip }, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-container-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const container = await azurite().makeContainer();
  const sasToken = azurite().signFor(container, "rdl");
  const env = { ...inContainer(azurite(), container), AZURE_STORAGE_KEY: "", AZURE_STORAGE_SAS_TOKEN: sasToken };
  await assert.rejects(startControlPlane({ dataDir, env }), (error: Error) => {
    assert.match(error.message, /it needs the permission to write/);
    assert(!error.message.includes(new URLSearchParams(sasToken).get("sig")!));
    return true;
  });
});

test("an admin makes a site of a customer's container, whose objects are imported and stay as they are", {
  skip,
}, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-container-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const bucket = await azurite().makeContainer();
  const bytes = Buffer.from(await makeMcap({ durationSeconds: 1 }));
  await azurite().open(bucket).uploadBlockBlob("runs/a.mcap", bytes, bytes.byteLength);
  const before = await azurite().readBlobs(bucket);
  const env = { DOWNLINK_DATA_DIR: dataDir, DOWNLINK_BUCKET_PLANT_7_SAS_TOKEN: azurite().signFor(bucket, "rl") };
  await using cloud = await startControlPlane({ dataDir, env });
  const { account, endpoint } = azurite();
  const place = ["--provider", "azure", "--account", account, "--endpoint", endpoint, "--bucket", bucket];
  const site = async (...args: readonly string[]) => {
    const settings = { DOWNLINK_LOG_LEVEL: "error", ...env };
    await using program = startProgram({
      script: "cloud/src/main.ts",
      args: ["admin", "site", ...args],
      env: settings,
    });
    assert.equal(await program.ended, 0, program.output());
    return program.output();
  };
  await site("create-byob", "plant", ...place, "--prefix", "runs/", "--credentials", "plant-7");
  await site("scan", "plant");
  const [recording] = await eventually(
    () => cloud.admin.call(api.recordings.list, {}),
    ([one]) => one?.importStatus === "complete",
  );
  assert.deepEqual(recording!.location, { path: "runs/a.mcap", bucket, azureStorageAccountName: account });
  assert.match(await site("list"), new RegExp(`plant\tazure\t${account}/${bucket}/runs/\tlisted 2`));
  assert.deepEqual(await azurite().readBlobs(bucket), before);
});
