import assert from "node:assert/strict";
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { statusSchema } from "./status/status-schema.ts";
import { violations } from "./testing/check-schema.ts";
import { FakeCloud } from "./testing/fake-cloud.ts";
import { writeRecording } from "./testing/recordings.ts";
import { flagsFor, makeDevice, untilStatus } from "./testing/run-daemon.ts";
import { runAgent, startAgent } from "./testing/start-agent.ts";

const quick = { DOWNLINK_SETTLE_TIME: "50ms", DOWNLINK_WATCH_SCAN_INTERVAL: "200ms" };

test("enroll, run, status, ls, stop: the whole life of an agent on the command line", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await writeRecording(device, "a.mcap");
  writeFileSync(join(device.root, "cut.mcap"), "\x89MCAP0\r\nrubbish", "latin1");
  utimesSync(join(device.root, "cut.mcap"), 1_700_000_000, 1_700_000_000);
  const configFile = join(device.root, "..", "etc", "agent.env");

  const enrolled = await runAgent("enroll", "--config", configFile, ...flagsFor(device, cloud));
  assert.deepEqual([enrolled.code, enrolled.stderr], [0, ""]);
  assert.ok(enrolled.stdout.endsWith(` --config ${configFile} run\n`));
  assert.equal(statSync(configFile).mode & 0o777, 0o600);
  assert.match(readFileSync(join(device.root, ".downlink-root"), "utf8"), /^downlink-root [\w-]{22}\n$/);

  const config = ["--config", configFile];
  await using agent = startAgent([...config, "run"], quick);
  await untilStatus(
    device.stateDir,
    "the file is reported",
    ({ files }) => files.reported === 1 && files.settling === 1,
  );
  const status = await runAgent(...config, "status", "--json");
  const document = JSON.parse(status.stdout) as { health: string; agent: { pid: number } };
  assert.deepEqual([status.code, document.health, document.agent.pid], [0, "healthy", agent.pid]);
  assert.deepEqual(violations(statusSchema, document), []);

  const second = await runAgent(...config, "run");
  assert.equal(second.code, 1);
  assert.match(second.stderr, new RegExp(`^agent: another agent \\(pid ${agent.pid}\\) runs with `));

  agent.kill("SIGTERM");
  const { code, stdout } = await agent.exited;
  assert.equal(code, 0);
  assert.ok(!stdout.includes(cloud.token), "no log line may hold the token");
  await checkWhatIsLeft(config);
});

/** Checks what the state directory says after the agent has ended. */
async function checkWhatIsLeft(config: readonly string[]): Promise<void> {
  const listed = await runAgent(...config, "ls", "--json");
  const files = JSON.parse(listed.stdout) as { path: string; state: string; start: string | null }[];
  assert.deepEqual(
    files.map(({ path, state }) => [path, state]),
    [
      ["a.mcap", "reported"],
      ["cut.mcap", "settling"],
    ],
  );
  assert.equal(files[0]?.start, "2026-01-02T03:04:05Z");
  const table = await runAgent(...config, "ls", "--state", "reported");
  assert.match(
    table.stdout,
    /^PATH +STATE +SIZE +START +END +REASON\na\.mcap +reported +\d+\.\d kB +2026-01-02T03:04:05Z/,
  );

  const down = await runAgent(...config, "status");
  assert.equal(down.code, 4);
  assert.match(down.stdout, /not running.*rover-1.*1 settling, 1 reported.*agent run/s);
}

test("a killed agent leaves nothing that hinders the next one", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await using first = startAgent([...flagsFor(device, cloud), "run"], quick);
  await untilStatus(device.stateDir, "it runs", ({ connection }) => connection.state === "connected");
  first.kill("SIGKILL");
  await first.exited;
  await using second = startAgent([...flagsFor(device, cloud), "run"], quick);
  const { agent } = await untilStatus(device.stateDir, "it runs", (status) => status.health === "healthy");
  assert.equal(agent.pid, second.pid);
  second.kill("SIGINT");
  assert.equal((await second.exited).code, 0);
});

test("a mistake of usage is exit code 2 and one line that says what to do; a refused enrolment is 1 and writes nothing", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const stateDir = ["--state-dir", device.stateDir];
  const mistakes = [
    ["run", ...stateDir],
    ["fly"],
    ["ls", "--state", "flying", ...stateDir],
    ["status", "--config", "/nonexistent/agent.env"],
  ];
  const results = await Promise.all(mistakes.map((args) => runAgent(...args)));
  assert.deepEqual(
    results.map(({ code }) => code),
    [2, 2, 2, 2],
  );
  assert.match(results[0]!.stderr, /^agent: DOWNLINK_API_URL is not set; run `.* enroll`/);
  const configFile = join(device.root, "..", "agent.env");
  const refused = await runAgent(
    "enroll",
    "--config",
    configFile,
    ...flagsFor(device, cloud),
    "--token",
    "dl_dt_wrongwrongwrong",
  );
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^agent: the token is refused: No credential, or one that is unknown/);
  assert.throws(() => statSync(configFile), { code: "ENOENT" });
  const elsewhere = await runAgent(
    "enroll",
    "--config",
    configFile,
    ...flagsFor(device, cloud),
    "--storage-root",
    "/nonexistent",
  );
  assert.deepEqual([elsewhere.code, /storage root \/nonexistent cannot be used/.test(elsewhere.stderr)], [2, true]);
});
