import assert from "node:assert/strict";
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { findBinaries } from "./binaries.ts";
import { EmbeddedPostgresError } from "./embedded-postgres-error.ts";
import { listLaunchers, runProgram } from "./launcher.ts";

const NOBODY = { uid: 65534, gid: 65534 };
const isRoot = process.getuid?.() === 0;
const needsRoot = isRoot ? false : "only root starts programs as another user";

slowTest(
  "binaries in a folder that is closed to the server's user start with one capability, and not without it",
  {
    skip: needsRoot,
  },
  async (t) => {
    const closed = makeFolder(t);
    const { initdb } = await findBinaries({ user: undefined, dir: closed, majorVersion: undefined });
    cpSync(dirname(dirname(initdb)), join(closed, "native"), { recursive: true, verbatimSymlinks: true });
    const [plain, ...withCapability] = listLaunchers(NOBODY);
    for (const [index, launcher] of withCapability.entries())
      await createCluster(launcher, join(closed, `with-${index}`));
    await assert.rejects(createCluster(plain!, join(closed, "plain")), EmbeddedPostgresError);

    async function createCluster(launcher: typeof plain & {}, dir: string) {
      mkdirSync(dir);
      chownSync(dir, NOBODY.uid, NOBODY.gid);
      await runProgram(launcher, join(closed, "native/bin/initdb"), [
        "-D",
        join(dir, "data"),
        "-U",
        "postgres",
        "--no-sync",
      ]);
      assert.match(readFileSync(join(dir, "data", "PG_VERSION"), "utf8"), /^\d+$/m);
    }
  },
);

test("a launched program runs as the server's user, in no other group, with at most one capability", {
  skip: needsRoot,
}, async () => {
  for (const launcher of listLaunchers(NOBODY)) {
    const status = await runProgram(launcher, "/bin/cat", ["/proc/self/status"]);
    assert.match(status, /^Uid:\s+65534\s+65534\s+65534\s/m);
    assert.match(status, /^Groups:\s*(65534)?\s*$/m);
    const capabilities = BigInt(`0x${/^CapPrm:\s+(\w+)/m.exec(status)?.[1]}`);
    assert.equal(capabilities & (capabilities - 1n), 0n);
  }
});

function makeFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "launcher-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
