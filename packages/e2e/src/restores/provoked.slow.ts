// Restores that go wrong in a way of their own, with the real programs. Over a bucket: npm test -- --slow --store s3 packages/e2e/src/restore

import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { emptyStore, restoreDatabase, storeSettings } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { startControlPlane } from "../processes/control-plane.ts";
import { startProgram } from "../processes/program.ts";
import { type Scenario, startScenario } from "../processes/scenario.ts";
import { whyNotInCi } from "../replicas/why-not-in-ci.ts";
import { assertSame, backUp, importFile, incarnationOf, recovered, writeFiles } from "./set-back.ts";

/** A database that is used with a store without belonging to it is noticed after so many comparisons at the latest. */
const COMPARISONS = 4;

const settingsOf = ({ dataDir }: Scenario, databaseUrl: string) => ({
  DOWNLINK_DATA_DIR: dataDir,
  DATABASE_URL: databaseUrl,
  DOWNLINK_PORT: "0",
  ...storeSettings(dataDir),
});

async function runAdmin(scenario: Scenario, databaseUrl: string, ...args: readonly string[]) {
  const env = settingsOf(scenario, databaseUrl);
  await using program = startProgram({ script: "cloud/src/main.ts", args: ["admin", ...args], env });
  return { exitCode: await program.ended, output: program.output() };
}

async function beneathSuspended(t: TestContext): Promise<void> {
  const scenario = await startScenario(t);
  await writeFiles(scenario, "early.mcap", "late.mcap", "removed.mcap");
  scenario.startAgent();
  const early = await importFile(scenario, "early.mcap");
  const changes = await prepareChanges(scenario);
  await using other = startProgram({
    script: "cloud/src/main.ts",
    args: ["serve"],
    env: settingsOf(scenario, scenario.databaseUrl!),
  });
  const url = (await other.line(/^Downlink serves at /)).replace("Downlink serves at ", "");
  const backup = await backUp(t, scenario); // the start has just written a mark; the next one is due in most of a minute
  const late = await importFile(scenario, "late.mcap");
  await changes.make();
  const incarnation = await incarnationOf(scenario);

  {
    using _suspended = suspend(other.pid);
    await restoreDatabase(scenario.databaseUrl!, backup);
    await recovered(scenario, incarnation);
  }
  await assertSame(scenario, [early, late]);
  await changes.assertKept(url);
  const seen = await incarnationAt(scenario, url);
  assert.equal(seen, await incarnationOf(scenario), "the process that was suspended serves the same incarnation");
  const { output } = await runAdmin(scenario, scenario.databaseUrl!, "recovery");
  assert.doesNotMatch(output, /two databases/);
}

function suspend(pid: number): Disposable {
  process.kill(pid, "SIGSTOP");
  return { [Symbol.dispose]: () => void process.kill(pid, "SIGCONT") };
}

async function incarnationAt({ agentOptions }: Scenario, url: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${agentOptions.token}` };
  return (await fetch(`${url}/v1/edge/work`, { headers })).headers.get("downlink-incarnation");
}

/** Does what an admin does before a backup. `make` makes the changes after the backup, which must not come undone. */
async function prepareChanges(scenario: Scenario) {
  const { admin } = scenario.cloud();
  const removed = await importFile(scenario, "removed.mcap");
  const { id: lostId } = await admin.call(api.devices.create, { name: "lost" });
  const revoked = await admin.call(api.deviceTokens.create, { deviceId: lostId });
  let enrolled = { id: "", token: "" };
  return {
    async make(): Promise<void> {
      await admin.call(api.recordings.delete, { keyOrId: removed.id });
      await admin.call(api.deviceTokens.delete, { id: revoked.id });
      const { id } = await admin.call(api.devices.create, { name: "new" });
      enrolled = { id, token: (await admin.call(api.deviceTokens.create, { deviceId: id })).token! };
      await admin.call(api.devices.update, { nameOrId: scenario.deviceId, autoDeleteAfterImport: true });
    },
    /** Whichever process is asked. */
    async assertKept(url: string): Promise<void> {
      const statusFor = async (token: string) =>
        (await fetch(`${url}/v1/edge/work`, { headers: { authorization: `Bearer ${token}` } })).status;
      assert.equal(await statusFor(revoked.token!), 401, "a token that was revoked stays so");
      assert.notEqual(await statusFor(enrolled.token), 401, "a device that was enrolled stays so");
      const { id } = await admin.call(api.devices.get, { nameOrId: "new" });
      assert.equal(id, enrolled.id);
      const again = (await scenario.recordings()).find((one) => one.id === removed.id);
      assert.notEqual(again?.importStatus, "complete", "what was deleted stays so");
      const { autoDeleteAfterImport } = await admin.call(api.devices.get, { nameOrId: scenario.deviceId });
      assert.equal(autoDeleteAfterImport, false, "a setting is that of the backup, and deletes nothing by itself");
    },
  };
}

async function copyOfDatabase(t: TestContext): Promise<void> {
  const scenario = await startScenario(t);
  await writeFiles(scenario, "a.mcap");
  scenario.startAgent();
  const imported = await importFile(scenario, "a.mcap");
  const databases = [scenario.databaseUrl!, await backUp(t, scenario)] as const;
  {
    await using _other = await startControlPlane({ dataDir: scenario.dataDir, env: { DATABASE_URL: databases[1] } });
    // A sweep that removes nothing compares database and store before, as a running control plane does each minute.
    for (let round = 0; round < COMPARISONS; round++)
      for (const url of databases) await runAdmin(scenario, url, "sweep", "--dry-run");
    for (const url of databases) {
      const { output } = await runAdmin(scenario, url, "recovery");
      assert.match(output, /nothing is destroyed: .*two databases use one object store/);
      const { exitCode } = await runAdmin(scenario, url, "sweep");
      assert.equal(exitCode, 1, "nothing is swept");
    }
  }
  const chosen = await runAdmin(scenario, databases[0], "recovery", "--accept-store", "--end");
  assert.doesNotMatch(chosen.output, /nothing is destroyed/);
  await assertSame(scenario, [imported]);
}

async function emptied(t: TestContext): Promise<void> {
  const scenario = await startScenario(t);
  await writeFiles(scenario, "kept.mcap");
  scenario.startAgent();
  const kept = await importFile(scenario, "kept.mcap");
  const incarnation = await incarnationOf(scenario);
  await scenario.killCloud();
  await emptyStore(scenario.dataDir);
  await assert.rejects(scenario.restartCloud(), /wrong or unmounted store/);
  await runAdmin(scenario, scenario.databaseUrl!, "recovery", "--accept-store");
  await scenario.restartCloud();
  await recovered(scenario, incarnation);
  await assertSame(scenario, [kept]);
}

// They wait more than they compute.
describe("provoked restores", { concurrency: true, skip: whyNotInCi() }, () => {
  test(
    "a database that is set back by less than a minute beneath a suspended process loses nothing, and nothing deleted or revoked comes back",
    beneathSuspended,
  );
  test("while a copy of the database is used with the live store, neither of both destroys anything", copyOfDatabase);
  test("after an emptied store is accepted, its recordings are fetched again from the device", emptied);
});
