import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { whyNoNginx } from "./nginx.ts";
import { startReplicaSet } from "./replica-set.ts";
import { whyNotInCi } from "./why-not-in-ci.ts";

/** nginx asks one process after the other, so that each gets some of so many calls. */
const CALLS = 9;

test("while a process hangs, what only reads is answered by others, and an agent's call fails in time to be repeated", {
  skip: whyNoNginx() ?? whyNotInCi(),
}, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-hanging-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  await using set = await startReplicaSet({ dataDir });
  const { id: deviceId } = await set.admin.call(api.devices.create, { name: "rover" });
  const { token } = await set.admin.call(api.deviceTokens.create, { deviceId });
  const { pid } = set.servers[0]!.program();
  using _suspended = suspend(pid);

  const lists = Array.from({ length: CALLS }, () => set.makeClient().call(api.devices.list, {}));
  const reports = Array.from({ length: CALLS }, () =>
    fetch(`${set.url}/v1/edge/hello`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: "{}",
    }).then(({ status }) => status),
  );
  for (const list of lists) assert.equal((await list).length, 1);
  const statuses = new Set(await Promise.all(reports));
  assert.deepEqual([...statuses].sort(), [400, 504]);
});

function suspend(pid: number): Disposable {
  process.kill(pid, "SIGSTOP");
  return { [Symbol.dispose]: () => void process.kill(pid, "SIGCONT") };
}
