import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { askStatus } from "../status/socket.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import {
  type Device,
  flagsFor,
  makeDevice,
  type RunningDaemon,
  settingsFor,
  startDaemon,
} from "../testing/run-daemon.ts";
import { runAgent } from "../testing/start-agent.ts";
import type { FileAnswer } from "./actions.ts";
import { askControl } from "./control-socket.ts";

interface Scene {
  readonly device: Device;
  readonly cloud: FakeCloud;
  readonly agent: RunningDaemon;
  /** Runs a command of the real program against the agent. */
  readonly command: (...args: string[]) => ReturnType<typeof runAgent>;
  readonly start: () => RunningDaemon;
}

/** Runs an agent until it has reported these recordings. */
async function withAgent(
  files: readonly string[],
  work: (scene: Scene) => Promise<void>,
  flags?: Parameters<typeof settingsFor>[2],
): Promise<void> {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  for (const [seed, name] of files.entries()) await writeRecording(device, name, { seed, sizeBytes: 200_000 });
  const start = () => startDaemon(settingsFor(device, cloud, flags));
  await using agent = start();
  await agent.until(
    "all are reported",
    ({ files: known, connection }) => connection.state === "connected" && (known.reported ?? 0) === files.length,
  );
  cloud.leaseMs = 0;
  await work({ device, cloud, agent, start, command: (...args) => runAgent(...flagsFor(device, cloud), ...args) });
}

const isStopped = ({ transfers, throttle }: StatusDocument) => transfers.length === 0 && throttle.isPaused;

describe("agent pause", { concurrency: 3 }, () => {
  testPauseUntilResume();
  testPauseForAWhile();
});

function testPauseUntilResume(): void {
  test("pausing stops running uploads, also over restarts, and nothing else; resume lets them go on", async () => {
    await withAgent(["a.mcap"], async ({ device, cloud, agent, start, command }) => {
      const setRate = (uploadRate: string) => {
        cloud.settings = { ...cloud.settings, uploadRate };
        cloud.changed();
      };
      setRate("20kB/s");
      await agent.until("it is slow", ({ throttle }) => throttle.bytesPerSecond === 20_000);
      cloud.requestImport("a.mcap");
      await agent.until("it is under way", ({ transfers }) => transfers.length === 1);
      const paused = await command("pause");
      assert.equal(paused.code, 0, paused.stderr);
      assert.match(paused.stdout, /^Uploads are paused by \S+, until `.* resume`\. Everything else goes on/);
      const status = await agent.until("it has stopped", isStopped);
      assert.deepEqual([status.files, status.health], [{ requested: 1 }, "healthy"]);
      const explained = JSON.parse((await command("explain", "a.mcap", "--json")).stdout) as Record<string, string>;
      assert.match(`${explained.why} ${explained.todo}`, /paused: by \S+, until `agent resume`.*`agent resume` lets/);
      await agent.stop();
      assert.ok(
        (JSON.parse((await command("status", "--json")).stdout) as StatusDocument).pause.by,
        "also while none runs",
      );
      setRate("unlimited");
      await using again = start();
      await writeRecording(device, "b.mcap", { seed: 9 });
      await cloud.until("what is new is reported meanwhile", () => cloud.at("b.mcap") !== undefined);
      const { pause, transfers } = await again.status();
      assert.deepEqual([pause.by !== null, pause.until, transfers], [true, null, []]);
      assert.equal(cloud.uploads.stored.size, 0);
      assert.equal((await command("resume")).stdout, "Uploads go on.\n");
      await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
      assert.equal((await command("resume")).stdout, "Uploads were not paused.\n");
    });
  });
}

function testPauseForAWhile(): void {
  test("a pause for some time shows until when, and ends by itself", async () => {
    await withAgent(["a.mcap"], async ({ cloud, agent, command }) => {
      const long = await command("pause", "--for", "2h", "--json");
      const { pause } = JSON.parse(long.stdout) as { pause: StatusDocument["pause"] };
      assert.equal(Date.parse(pause.until!) - Date.parse(pause.since!), 7_200_000);
      assert.match((await command("status")).stdout, /paused: by \S+ until [A-Z\d]/);
      cloud.requestImport("a.mcap");
      await agent.until("it waits", ({ files }) => files.requested === 1);
      assert.equal((await command("pause", "--for", "1s")).code, 0);
      await cloud.until("it is stored once that is over", () => cloud.uploads.stored.size === 1);
      assert.equal((await command("pause", "--for", "soon")).code, 2);
    });
  });
}

describe("agent import", { concurrency: 3 }, () => {
  testImport();
  testImportLater();
  testPartOfOldCloud();
});

function testPartOfOldCloud(): void {
  test("a part is asked of a control plane that takes none: the answer says so, and the file is not asked for", async () => {
    await withAgent(["a.mcap"], async ({ cloud, command }) => {
      const asked = await command("import", "a.mcap", "--topic", "/imu", "--start", "2026-11-30T10:00:00Z");
      assert.equal(asked.code, 1);
      assert.match(asked.stdout, /^a\.mcap: the control plane is too old for requests of parts .*asked for nothing/);
      assert.equal(cloud.requests.size, 0);
      const wrong = await command("import", "a.mcap", "--end", "soon");
      assert.deepEqual([wrong.code, /--end must be an RFC 3339/.test(wrong.stderr)], [2, true], wrong.stderr);
    });
  });
}

const answersOf = ({ stdout }: { stdout: string }) =>
  (JSON.parse(stdout) as FileAnswer[]).map(({ path, result }) => [path, result]);

function testImport(): void {
  test("import asks the control plane for files, by whatever path they are named; the answer says why a file cannot be requested", async () => {
    await withAgent(["a.mcap", "b.mcap"], async ({ device, cloud, agent, command }) => {
      truncateSync(join(device.root, "b.mcap"), 5000);
      await agent.until("the cut one is young again", ({ files }) => files.settling === 1);
      writeFileSync(join(device.root, "notes.txt"), "");
      const asked = await command("import", join(device.root, "a.mcap"), "b.mcap", "notes.txt", "--json");
      assert.deepEqual(answersOf(asked), [
        ["a.mcap", "done"],
        ["b.mcap", "refused"],
        ["notes.txt", "unknown"],
      ]);
      assert.equal(asked.code, 1);
      assert.match(asked.stdout, /not finished.*Its name is not that of a recording/s);
      await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
      const again = await command("import", "a.mcap");
      assert.equal(again.code, 0);
      assert.match(again.stdout, /^a\.mcap: (its import was asked for already|it is in the control plane already)/);
    });
  });
}

function testImportLater(): void {
  test("while the control plane is away the request is kept, the answer says so, and the request is sent after a restart", async () => {
    await withAgent(["a.mcap"], async ({ cloud, agent, start, command }) => {
      await cloud.goAway();
      await agent.until("it is offline", ({ connection }) => connection.state === "offline");
      const part = await command("import", "a.mcap", "--topic", "/imu");
      assert.deepEqual([part.code, /a request for a part is not kept/.test(part.stdout)], [1, true], part.stdout);
      const asked = await command("import", "a.mcap");
      assert.equal(asked.code, 0);
      assert.match(
        asked.stdout,
        /^a\.mcap: the control plane cannot be reached; the request is kept, even across a restart/,
      );
      assert.match(
        (await command("explain", "a.mcap")).stdout,
        /asked for on this device\. The control plane does not know that yet/,
      );
      await agent.stop();
      await cloud.listen();
      await using _again = start();
      await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
    });
  });

  test("a control plane that is too old is reported, to the waiting user and later by explain", async () => {
    await withAgent(["a.mcap"], async ({ cloud, agent, command }) => {
      cloud.takesLocalRequests = false;
      const asked = await command("import", "a.mcap");
      assert.deepEqual(
        [asked.code, asked.stdout],
        [1, "a.mcap: the control plane is too old for requests from the device; request the import there\n"],
      );
      assert.match((await command("explain", "a.mcap")).stdout, /too old for requests from the device/);
      assert.equal((await agent.status()).files.reported, 1);
    });
  });
}

describe("agent retry", { concurrency: 3 }, () => {
  test("a failed import is requested again, and an upload that waits after failures is tried at once", async () => {
    await withAgent(["a.mcap", "b.mcap"], async ({ cloud, agent, command }) => {
      const requestId = cloud.requestImport("a.mcap");
      cloud.advance(requestId, "failed", { code: "KeyTaken", text: "the key is taken" });
      await agent.until("it has failed", ({ files }) => files.failed === 1);
      await cloud.until("that is acknowledged", () => cloud.acknowledged.includes(requestId));
      cloud.fault = ({ name }) =>
        name === "openUpload" ? { kind: "answer", status: 503, retryAfterSeconds: 3600 } : undefined;
      assert.match((await command("retry", "a.mcap")).stdout, /^a\.mcap: its import is asked for/);
      await agent.until("it waits after a failure", ({ retries }) => retries.length === 1);
      cloud.fault = () => undefined;
      assert.equal((await command("retry", "a.mcap")).stdout, "a.mcap: its upload is tried again now\n");
      await cloud.until("it is stored", () => cloud.uploads.stored.size === 1);
      const nothing = await command("retry", "b.mcap", "c.mcap");
      assert.match(
        nothing.stdout,
        /b\.mcap: it is reported: nothing has failed.*\nc\.mcap: There is no file by this path/,
      );
      assert.equal(nothing.code, 1);
    });
  });

  test("a file that was not examined yet is examined, and the command says so", async () => {
    await withAgent([], async ({ device, agent, command }) => {
      const path = join(device.root, "a.mcap");
      await writeRecording(device, "a.mcap");
      await agent.until("it is known", ({ files }) => Object.values(files).length > 0);
      const answer = await command("retry", path);
      assert.match(answer.stdout, /^a\.mcap: (it is examined again now|it is (indexed|reported): nothing)/);
      await agent.until("it is reported", ({ files }) => files.reported === 1);
    });
  });
});

test("confirm begins what waits for a new disk limit, and says how much that is, or that nothing waits", async () => {
  const work = async ({ cloud, agent, command }: Scene) => {
    await agent.until("it waits", ({ deletions }) => deletions.planned.some(({ heldUntil }) => heldUntil));
    assert.match((await command("status")).stdout, /Disk limit +would delete 1 file \(\d+ kB\), never imported,/);
    const { code, stdout } = await command("confirm");
    assert.equal(code, 0);
    assert.match(stdout, /^The agent deletes 1 file \(\d+ kB\) now, to keep below the disk limit\.\n$/);
    await cloud.until("it is deleted", () => cloud.deleted.size === 1);
    await agent.until("it is counted", ({ deletions }) => deletions.deletedFiles === 1);
    assert.match((await command("status")).stdout, /Deleted +1 file since the start/);
    assert.equal((await command("confirm")).stdout, "No deletion waits to be confirmed.\n");
    assert.deepEqual(JSON.parse((await command("confirm", "--json")).stdout), { begun: null });
  };
  await withAgent(["a.mcap", "b.mcap"], work, { maxDisk: "300kB", prunesUnimported: "true" });
});

describe("who may act", () => {
  test("without an agent each command says so, does nothing, and exits with 4", async () => {
    using device = makeDevice();
    await using cloud = await FakeCloud.start();
    for (const args of [["pause"], ["resume"], ["confirm"], ["import", "a.mcap"], ["retry", "a.mcap"]]) {
      const { code, stderr, stdout } = await runAgent(...flagsFor(device, cloud), ...args);
      assert.deepEqual([code, stdout], [4, ""]);
      assert.match(stderr, /^agent: no agent runs with .*, so nothing was done; start it with/);
    }
  });

  test("a command that is newer than the agent says so", async () => {
    await withAgent([], async ({ device, command }) => {
      const socket = join(device.stateDir, "control.sock");
      renameSync(socket, `${socket}.away`);
      const { code, stderr } = await command("pause");
      assert.equal(code, 1);
      assert.match(stderr, /older than this command; start it again/);
      renameSync(`${socket}.away`, socket);
    });
  });

  test("an invalid request is refused with a sentence, and the agent goes on", async () => {
    await withAgent([], async ({ device, agent }) => {
      for (const request of [
        null,
        1,
        {},
        { action: "explode" },
        { action: "pause", by: "x", forMs: -1 },
        { action: "import", paths: [1] },
        { action: "importPart", paths: ["a.mcap"], part: { start: "soon" } },
      ])
        await assert.rejects(askControl(device.stateDir, request), /does not know this request/);
      assert.equal((await agent.status()).pause.by, null);
    });
  });

  const isRoot = process.getuid?.() === 0;
  test("another user may do nothing, even if that user may read the status", {
    skip: !isRoot && "only root can be somebody else",
  }, async () => {
    await withAgent([], async ({ device, agent }) => {
      assert.equal(statSync(join(device.stateDir, "control.sock")).mode & 0o777, 0o600);
      for (const directory of [device.stateDir, dirname(device.stateDir)]) chmodSync(directory, 0o755);
      chmodSync(join(device.stateDir, "agent.sock"), 0o777);
      const script = `
        import { askControl } from ${JSON.stringify(new URL("control-socket.ts", import.meta.url).href)};
        import { askStatus } from ${JSON.stringify(new URL("../status/socket.ts", import.meta.url).href)};
        const status = await askStatus(process.argv[1]);
        process.setgid(65534); process.setuid(65534);
        const seen = await askStatus(process.argv[1]);
        console.log(status.version, seen.version, await askControl(process.argv[1], { action: "pause", by: "me", forMs: null }).catch((error) => error.message));`;
      const args = ["--input-type=module", "-e", script, device.stateDir];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      assert.match(stdout, /^1 1 only root and the user that the agent of .* runs as may do this/);
      assert.equal((await agent.status()).pause.by, null);
      assert.ok(await askStatus(device.stateDir));
    });
  });
});
