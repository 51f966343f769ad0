import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { runAgentCommand } from "./processes/edge-agent.ts";
import { startScenario } from "./processes/scenario.ts";

test("cards are swapped, the agent is killed and loses its state: no recording is lost or doubled, and the request is served", async (t) => {
  const scenario = await startScenario(t, { agentEnv: { DOWNLINK_ADOPT_CARDS: "true" } });
  // The cards must be gone before the root's folder is removed: otherwise their contents would be removed too.
  await using cards = await makeCards(t, scenario.storageRoot);
  if (!cards) return;
  const { recordings } = scenario;
  // Both files have one path, one length and one time: only the content distinguishes them.
  await cards.write("A", "drive.mcap", await makeMcap({ seed: 1 }));
  await cards.write("B", "drive.mcap", await makeMcap({ seed: 2, startNs: 1_770_000_000_000_000_000n }));
  cards.putIn("A");
  scenario.startAgent();
  const [first] = await eventually(recordings, (all) => all.length === 1);
  cards.takeOut();
  await scenario.cloud().admin.call(api.recordings.requestImport, { keyOrId: first!.id });
  cards.putIn("B");
  const both = await eventually(recordings, (all) => all.length === 2);
  assert.deepEqual(
    both.map(({ path }) => path),
    ["drive.mcap", "drive.mcap"],
  );
  const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id).sort();

  await scenario.agent().end("SIGKILL");
  for (const suffix of ["", "-wal", "-shm"])
    await rm(join(scenario.agentOptions.stateDir, `agent.db${suffix}`), { force: true });
  scenario.startAgent();
  await eventually(
    async () => await runAgentCommand(scenario.agentOptions, "status", "--json"),
    ({ output }) => /"state": "connected"/.test(output) && /"reported": 1/.test(output),
    180_000,
  );
  assert.deepEqual(idsOf(await recordings()), idsOf(both));
  assert.equal((await recordings()).find(({ id }) => id === first!.id)?.importStatus, "pending");

  cards.takeOut();
  cards.putIn("A");
  await scenario.until("complete", first!.id);
  assert.deepEqual(idsOf(await recordings()), idsOf(both));
  const { output } = await runAgentCommand(scenario.agentOptions, "ls");
  assert.match(output, /drive\.mcap +away .*which is out/);
});

/** Returns undefined, and skips the test, if nothing can be mounted. */
async function makeCards(t: TestContext, root: string) {
  const folder = await mkdtemp(join(tmpdir(), "downlink-cards-"));
  const mounts = new DisposableStack();
  const mount = (at: string, ...args: string[]) => {
    execFileSync("mount", [...args, at], { stdio: "pipe" });
    return () => execFileSync("umount", ["-l", at]);
  };
  let takeOut = () => {};
  try {
    for (const name of ["A", "B"]) {
      await mkdir(join(folder, name));
      mounts.defer(mount(join(folder, name), "-t", "tmpfs", "-o", "size=8m", "tmpfs"));
    }
  } catch (error) {
    mounts.dispose();
    t.skip(`file systems cannot be mounted here: ${(error as Error).message.trim()}`);
    return undefined;
  }
  return {
    write: (name: string, path: string, bytes: Uint8Array) => writeFile(join(folder, name, path), bytes),
    putIn(name: string): void {
      const unmount = mount(root, "--bind", join(folder, name));
      takeOut = () => {
        unmount();
        takeOut = () => {};
      };
    },
    takeOut: () => takeOut(),
    async [Symbol.asyncDispose]() {
      takeOut();
      mounts.dispose();
      await rm(folder, { recursive: true });
    },
  };
}
