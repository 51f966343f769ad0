import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { TRASH_NAME } from "../files/scan.ts";
import { identityOf, isSameIdentity } from "../inventory/identity.ts";
import { openInventory } from "../inventory/inventory.ts";
import { openDatabase } from "../state/database.ts";
import { settleIntents } from "./settle-intents.ts";

const program = fileURLToPath(new URL("../testing/delete-and-die.ts", import.meta.url));
const NEVER = 1e9;
const content = "all the bytes of a recording";

/** A device with one imported file that may be deleted. Each run is a process of its own. */
class Scene implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "downlink-crash-"));
  readonly root = join(this.#directory, "root");
  readonly stateDir = join(this.#directory, "state");
  readonly path = join(this.root, "a.mcap");

  constructor() {
    mkdirSync(this.root);
    mkdirSync(this.stateDir);
    writeFileSync(this.path, content);
    using opened = this.open();
    const { inventory } = opened;
    inventory.change([{ do: "track", path: "a.mcap", identity: this.identity() }]);
    const { versionId, identity } = inventory.at("a.mcap")!;
    const headTailSha256 = createHash("sha256").update(content).digest("hex");
    inventory.change([
      { do: "event", versionId, event: "finished", findings: { headTailSha256, item: "{}" } },
      { do: "confirm", versionId, as: "indexed", revision: 1 },
      { do: "event", versionId, event: "importDone" },
      { do: "noteHash", versionId, sha256: "1".repeat(64), of: identity, isProof: true },
    ]);
  }

  identity() {
    const { dev } = lstatSync(this.root, { bigint: true });
    return identityOf(lstatSync(this.path, { bigint: true }), dev);
  }

  open() {
    const { database } = openDatabase(this.stateDir);
    return { inventory: openInventory(database), [Symbol.dispose]: () => database.close() };
  }

  /** Runs the process to its end, or until it dies at a point. Returns how many points there were. */
  run(mode: "delete" | "settle" | "swap", dieAt = NEVER): Promise<number | "died"> {
    const args = ["--disable-warning=ExperimentalWarning", program, mode, this.root, this.stateDir, String(dieAt)];
    return new Promise((resolve, reject) => {
      execFile(process.execPath, args, (error, stdout, stderr) => {
        if (error?.signal === "SIGKILL") resolve("died");
        else if (error) reject(new Error(stderr));
        else resolve(Number(stdout));
      });
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }
}

/** Checks that either nothing has happened, or the file was deleted and that is recorded. */
function checkWhole(scene: Scene, at: string): "there" | "gone" {
  using opened = scene.open();
  const { inventory } = opened;
  assert.deepEqual(inventory.intents(), [], at);
  assert.ok(!existsSync(join(scene.root, TRASH_NAME)) || readdirSync(join(scene.root, TRASH_NAME)).length === 0, at);
  assert.deepEqual(
    readdirSync(scene.root).filter((name) => name.includes("restored")),
    [],
    at,
  );
  const file = inventory.at("a.mcap");
  if (existsSync(scene.path)) {
    assert.equal(readFileSync(scene.path, "utf8"), content, at);
    assert.equal(file?.state, "imported", at);
    assert.ok(isSameIdentity(file.identity, scene.identity()), `${at}: a scan would take it for another version`);
    return "there";
  }
  assert.equal(file, undefined, at);
  assert.deepEqual(
    [...inventory.removals().values()],
    [{ reportedAs: "indexed", because: "imported" }],
    `${at}: it is gone, and the reason was not reported`,
  );
  assert.equal(inventory.lastDeleted(1)[0]?.path, "a.mcap", at);
  return "gone";
}

/** Runs two points at a time, because each is a process. */
async function forEachPoint(count: number, work: (point: number) => Promise<void>): Promise<void> {
  const points = Array.from({ length: count }, (_, point) => point).values();
  const worker = async () => {
    for (const point of points) await work(point);
  };
  await Promise.all([worker(), worker()]);
}

test("killed at any step of a deletion, the file is whole at its path, or gone and known to be: never lost, never another version", async (t) => {
  using whole = new Scene();
  const count = (await whole.run("delete")) as number;
  assert.equal(checkWhole(whole, "without a crash"), "gone");
  t.diagnostic(`${count} points in a deletion`);
  assert.ok(count >= 12, "intent, permit, trash, rename, unlink and record are two points each");
  const ends: string[] = [];
  let restartsDied = 0;
  await forEachPoint(count, async (point) => {
    using scene = new Scene();
    assert.equal(await scene.run("delete", point), "died");
    const inTrash = existsSync(join(scene.root, TRASH_NAME)) && readdirSync(join(scene.root, TRASH_NAME)).length > 0;
    if (inTrash && restartsDied++ === 0) await dieWhileSettling(scene);
    await settle(scene);
    ends[point] = checkWhole(scene, `killed at point ${point}`);
  });
  assert.equal(ends.join(" "), ends.toSorted().reverse().join(" "), "once it is gone, it stays gone");
});

test("a file that takes the file's place between the last check and the move into the trash is put back untouched", async () => {
  using scene = new Scene();
  writeFileSync(join(scene.root, "other.mcap"), "another recording");
  assert.notEqual(await scene.run("swap"), "died");
  assert.equal(readFileSync(scene.path, "utf8"), "another recording");
  assert.deepEqual(readdirSync(join(scene.root, TRASH_NAME)), []);
  using opened = scene.open();
  assert.deepEqual([opened.inventory.lastDeleted(1), opened.inventory.intents()], [[], []]);
});

async function settle(scene: Scene): Promise<void> {
  using opened = scene.open();
  const storage = { root: scene.root, device: lstatSync(scene.root, { bigint: true }).dev };
  await settleIntents({ inventory: opened.inventory, storage, isRootThere: async () => true, nowNs: 1n });
}

/** The restart is killed too, at each of its steps, one restart after the other. */
async function dieWhileSettling(scene: Scene): Promise<void> {
  for (let point = 0; point < 20; point++) if ((await scene.run("settle", point)) !== "died") return;
}
