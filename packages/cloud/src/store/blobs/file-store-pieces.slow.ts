import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openFileStore } from "./file-store.ts";
import { piecedBytes, piecedPartBytes } from "./testing/file-store-child.ts";
import { testClock, testSigner } from "./testing/open-file-store.ts";
import { cutParts, newKey, readBlob } from "./testing/pieces.ts";

const child = fileURLToPath(new URL("./testing/file-store-child.ts", import.meta.url));
const parts = cutParts(piecedBytes, piecedPartBytes);

test("after kill -9 again and again at any instant, no acknowledged piece is lost or asked for again, and the object is exact", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "file-store-pieces-"));
  t.after(() => rm(directory, { recursive: true }));
  const store = await openFileStore({ directory, signer: testSigner, clock: testClock, publicUrl: () => "" });
  for (let round = 0; round < 4; round++) {
    const key = newKey();
    const acknowledged: string[] = [];
    for (let run = 0, allowed = 1 + round; ; run++, allowed = 1 + ((allowed + round) % 4)) {
      assert(run < 40, "no progress");
      const lines = await runAndKill({ directory, key }, allowed);
      acknowledged.push(...lines.filter((line) => line.startsWith("p")));
      if (lines.includes("complete") || (await store.stat(key))) break;
      await assertAllThere(store, key, acknowledged);
    }
    assert.deepEqual([...new Set(acknowledged)], acknowledged, "nothing is taken twice");
    const shown = parts.map(({ plan }) => plan);
    await store.completeUpload(key, shown);
    assert(piecedBytes.equals(await readBlob(await store.open(key))));
  }
});

async function assertAllThere(
  store: Awaited<ReturnType<typeof openFileStore>>,
  key: string,
  acknowledged: readonly string[],
): Promise<void> {
  const durable = new Set((await store.listParts(key)).map(({ number }) => number));
  const held = new Set((await store.listPieces(key)).map(({ partNumber, offset }) => `${partNumber} ${offset}`));
  for (const line of acknowledged) {
    const [what, number, offset] = line.split(" ");
    const isThere = durable.has(Number(number)) || (what === "piece" && held.has(`${number} ${offset}`));
    assert(isThere, `${line} was acknowledged and is not there`);
  }
}

/** Runs the child, kills it after `allowed` lines, and returns what it printed. */
async function runAndKill({ directory, key }: { directory: string; key: string }, allowed: number): Promise<string[]> {
  const running = spawn(process.execPath, [child, directory, key, "uploadInPieces"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(running, "exit");
  const lines: string[] = [];
  for await (const line of createInterface({ input: running.stdout })) {
    lines.push(line);
    if (lines.length === allowed) running.kill("SIGKILL");
  }
  await exited;
  return lines;
}
