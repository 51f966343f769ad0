// A process of crash.slow.ts: deletes `a.mcap` under a permit (or settles what another run left), and kills itself before or after its Nth
// step that changes files or the state database. With `swap`, `other.mcap` takes the file's place before the move into the trash. At its end
// it prints how many points there are.
//
//     node delete-and-die.ts (delete|settle|swap) ROOT STATE_DIR N
import fs, { statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { DatabaseSync } from "node:sqlite";
import { createServerClock } from "../cloud/server-clock.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import { openInventory } from "../inventory/inventory.ts";
import { openDatabase } from "../state/database.ts";
import { systemClock } from "../system/clock.ts";

const [mode, root = "", stateDir = "", dieAt = ""] = process.argv.slice(2);
const { database } = openDatabase(stateDir);
const inventory = openInventory(database);
let points = 0;
watchSteps();
// These are loaded only now, so that they see the functions that count.
const { deleteFiles } = await import("../deleting/delete-files.ts");
const { settleIntents } = await import("../deleting/settle-intents.ts");
const { createSetbacks } = await import("../deleting/setbacks.ts");
const { createTurns } = await import("../loops/turns.ts");

const storage = { root, device: statSync(root, { bigint: true }).dev };
if (mode === "settle")
  await settleIntents({ inventory, storage, isRootThere: async () => true, nowNs: systemClock.nowNs() });
else await deleteOne();
console.log(points);

async function deleteOne(): Promise<void> {
  const { versionId, identity } = inventory.at("a.mcap")!;
  const answer = { versionId, answer: "granted", permitId: "prm_1", expiresAt: 0n };
  const nothing = () => undefined;
  const wakeSignal = { notify: nothing, wait: async () => undefined };
  const serverClock = createServerClock(systemClock, { recall: nothing, keep: nothing });
  const session = { call: async () => ({ serverTime: systemClock.nowNs(), answers: [answer] }) } as never;
  const storageRoot: Partial<StorageRoot> = { find: async () => storage };
  await deleteFiles(
    {
      ...{ session, inventory, clock: systemClock, serverClock, proofs: { hashOf: inventory.hash } as never },
      ...{ storageRoot: storageRoot as StorageRoot, setbacks: createSetbacks(systemClock), treeTurns: createTurns() },
      ...{
        reportSignal: wakeSignal,
        scanSignal: wakeSignal,
        isListed: () => true,
        log: { info: nothing, debug: nothing } as never,
      },
    },
    {
      steps: [{ versionId, reason: "imported", sizeBytes: identity.sizeBytes }],
      storage,
      isCutOff: false,
      signal: new AbortController().signal,
    },
  );
}

function watchSteps(): void {
  for (const name of ["rename", "unlink", "link", "mkdir"] as const) {
    const original = fs.promises[name] as (...given: unknown[]) => Promise<unknown>;
    const counted = async (...given: unknown[]) => {
      reachPoint();
      if (mode === "swap" && name === "rename") fs.renameSync(`${root}/other.mcap`, `${root}/a.mcap`);
      const answer = await original(...given);
      reachPoint();
      return answer;
    };
    Object.assign(fs.promises, { [name]: counted });
  }
  syncBuiltinESMExports();
  const exec = DatabaseSync.prototype.exec;
  DatabaseSync.prototype.exec = function (sql) {
    if (sql === "COMMIT") reachPoint();
    exec.call(this, sql);
    if (sql === "COMMIT") reachPoint();
  };
}

function reachPoint(): void {
  if (points === Number(dieAt)) process.kill(process.pid, "SIGKILL");
  points += 1;
}
