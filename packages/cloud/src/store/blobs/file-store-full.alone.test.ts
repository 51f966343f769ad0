import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { StorageFullError } from "./blob-errors.ts";
import { sendPart } from "./blob-store-uploads.suite.ts";
import { serveFileStore } from "./testing/open-file-store.ts";
import { cutParts, inPieces, newKey, readBlob } from "./testing/pieces.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;

describe("on a full disk", () => {
  test("a put is refused as StorageFull and leaves nothing; a smaller one passes", async (t) => {
    await using small = await mountSmallDisk(t);
    if (!small) return;
    await using tested = await serveFileStore({ directory: small.directory });
    const key = newKey();
    await assert.rejects(tested.store.put(key, inPieces(randomBytes(5 * MIB), 65_536)), StorageFullError);
    assert.deepEqual(await Array.fromAsync(tested.store.list("")), []);
    await tested.store.put(key, inPieces(randomBytes(MIB), 65_536));
  });

  for (const { buffer, partMemoryBytes, ballastBytes } of [
    { buffer: "memory", partMemoryBytes: undefined, ballastBytes: 1.9 * MIB },
    { buffer: "a file", partMemoryBytes: 0, ballastBytes: MIB },
  ])
    test(`a part that waits in ${buffer} is answered with 507 and not counted, and can be sent again once there is room`, async (t) => {
      await using small = await mountSmallDisk(t);
      if (!small) return;
      await using tested = await serveFileStore({ directory: small.directory, partMemoryBytes });
      const { store } = tested;
      const [ballast, key, bytes] = [newKey(), newKey(), randomBytes(2 * MIB)];
      await store.put(ballast, inPieces(randomBytes(ballastBytes), 65_536));
      await store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes: MIB });
      const [first, second] = cutParts(bytes, MIB);
      assert.equal((await sendPart(store, key, first!)).status, 200);
      const refused = await sendPart(store, key, second!);
      assert.equal(refused.status, 507);
      assert.equal(((await refused.json()) as { code: string }).code, "StorageFull");
      assert.deepEqual(
        (await store.listParts(key)).map(({ number }) => number),
        [1],
      );
      await store.delete(ballast);
      assert.equal((await sendPart(store, key, second!)).status, 200);
      await store.completeUpload(key, await store.listParts(key));
      assert(bytes.equals(await readBlob(await store.open(key))));
    });
});

test("a failed sync is never taken for a good one: nothing is acknowledged, and the parts have to be sent again", async (t) => {
  await using injector = await buildFaultInjector(t);
  if (!injector) return;
  const child = fileURLToPath(new URL("./testing/file-store-child.ts", import.meta.url));
  const env = { ...process.env, LD_PRELOAD: injector.library, FAULT_FILE: join(injector.directory, "fault") };
  const args = [child, join(injector.directory, "store"), newKey(), "failToSync"];
  const running = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  const [output, [exitCode]] = await Promise.all([Array.fromAsync(running.stdout), once(running, "exit")]);
  assert.equal(exitCode, 0);
  const lines = Buffer.concat(output).toString().trim().split("\n");
  assert.deepEqual(
    lines.filter((line) => !/^part \d/.test(line)),
    ["put EIO", "part EIO", "record EIO", "piece EIO", "line EIO", "held 0", "listed 0", "complete EIO", "listed 0"],
  );
});

/** Mounts a file system of 3.4 MiB. Returns undefined, and skips the test, if none can be mounted. */
async function mountSmallDisk(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), "file-store-full-"));
  try {
    await run("mount", ["-t", "tmpfs", "-o", "size=3500k", "tmpfs", directory]);
  } catch (error) {
    await rm(directory, { recursive: true });
    t.skip(`cannot mount a tmpfs: ${(error as Error).message.trim()}`);
    return undefined;
  }
  return {
    directory,
    async [Symbol.asyncDispose]() {
      await run("umount", [directory]);
      await rm(directory, { recursive: true });
    },
  };
}

/** Builds the fault injector that stands beside the repository. Returns undefined, and skips the test, if it cannot be built. */
async function buildFaultInjector(t: TestContext) {
  const source = fileURLToPath(new URL("../../../../../../shared/tools/faultfs.c", import.meta.url));
  const directory = await mkdtemp(join(tmpdir(), "file-store-fault-"));
  const library = join(directory, "faultfs.so");
  try {
    await access(source);
    await run("gcc", ["-shared", "-fPIC", "-o", library, source, "-ldl"]);
  } catch (error) {
    await rm(directory, { recursive: true });
    t.skip(`cannot build the fault injector: ${(error as Error).message.trim()}`);
    return undefined;
  }
  return { directory, library, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) };
}
