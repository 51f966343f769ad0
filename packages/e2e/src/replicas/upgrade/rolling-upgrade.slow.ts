import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startProgram } from "../../processes/program.ts";
import type { Acknowledged } from "../kills/clients.ts";
import { assertInvariants } from "../kills/invariants.ts";
import { openKillBed } from "../kills/kill-bed.ts";
import { underLoad } from "../kills/load.ts";
import { createTally } from "../kills/tally.ts";
import { whyNoNginx } from "../nginx.ts";
import type { ReplicaSet } from "../replica-set.ts";
import { whyNotInCi } from "../why-not-in-ci.ts";
import { checkOutFormerVersion, whyNoFormerVersion } from "./former-version.ts";

test("a former version is replaced process by process, after the new one has migrated the database: no request fails, nothing is lost, and the check finds nothing that it cannot repair", {
  skip: whyNoNginx() ?? whyNotInCi() ?? whyNoFormerVersion(),
}, async (t) => {
  const packages = checkOutFormerVersion(join(await makeFolder(t), "former"));
  await using bed = await openKillBed({ isInBucket: false, packages });
  const { servers, workers, falls } = bed.set;
  const tally = createTally();
  const acknowledged: Acknowledged = { uploads: new Map(), events: new Map() };
  await underLoad(bed, { tally, acknowledged }, async () => {
    await bed.untilBusy();
    tally.nextKill("the database is migrated");
    await migrate(bed.set);
    for (const process of [...servers, ...workers]) {
      tally.nextKill(`${process.name} is replaced`);
      await process.upgrade();
    }
  });
  assert.deepEqual(tally.failures(), [], "no client sees a failed request");
  await assertInvariants(bed, acknowledged);
  assert.deepEqual(falls, []);
  const [, repaired] = await runCommand(bed.set, ["admin", "check", "--repair"]);
  assert.match(repaired, /^missing manifest .*\(repaired\)$/m, "former workers imported what new processes took");
  const [isWhole, printed] = await runCommand(bed.set, ["admin", "check"]);
  assert.equal(isWhole, 0, printed);
});

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "downlink-upgrade-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs `downlink migrate` of this version, beside the processes of the former one. */
async function migrate(set: ReplicaSet): Promise<void> {
  const [exit, printed] = await runCommand(set, ["migrate"]);
  assert.equal(exit, 0, printed);
}

/** Runs a command of this version. Returns its exit code, and everything that it printed. */
async function runCommand({ settings }: ReplicaSet, args: readonly string[]) {
  await using program = startProgram({ script: "cloud/src/main.ts", args, env: settings });
  return [await program.ended, program.output()] as const;
}
