import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { type Device, makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { runAgent, startAgent } from "../testing/start-agent.ts";
import { enroll } from "./enroll.ts";

test("enrolling with a token that can only create a device leaves the device's own token in the env file", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const configFile = join(device.stateDir, "..", "agent.env");
  const settings = settingsFor(device, cloud, { deviceToken: cloud.enrolmentToken, deviceName: "rover-1" });
  const { name } = await enroll(settings, configFile);
  assert.equal(name, "rover-1");
  const [, token] = /^DOWNLINK_DEVICE_TOKEN=(\S+)$/m.exec(readFileSync(configFile, "utf8")) ?? [];
  assert.ok(token !== undefined && token !== cloud.enrolmentToken && cloud.enrolments.isEnrolled(token));
  await using agent = startDaemon(settingsFor(device, cloud, { deviceToken: token }));
  await agent.until("it is connected", ({ connection }) => connection.state === "connected");
});

test("without a name such a token is refused, and the message says what it is good for", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const settings = settingsFor(device, cloud, { deviceToken: cloud.enrolmentToken });
  await assert.rejects(
    enroll(settings, join(device.stateDir, "..", "agent.env")),
    /belongs to no device.*--device-name/,
  );
  assertUntouched(device);
});

test("a site's token is recognized by its beginning, and is kept as one", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.site = { id: "site_1", name: "depot" };
  cloud.token = "dl_st_0123456789abcdefghijABCDEFGHIJ";
  const configFile = join(device.stateDir, "..", "agent.env");
  const places = ["--storage-root", device.root, "--state-dir", device.stateDir, "--url", cloud.url];
  const { code, stdout, stderr } = await runAgent("enroll", "--config", configFile, "--token", cloud.token, ...places);
  assert.deepEqual([code, stderr], [0, ""]);
  assert.match(stdout, /^Enrolled as site depot\./);
  const written = readFileSync(configFile, "utf8");
  assert.ok(written.includes(`DOWNLINK_SITE_TOKEN=${cloud.token}`) && !written.includes("DOWNLINK_DEVICE_TOKEN"));
});

function placesOf(device: Device, url: string): string[] {
  const configFile = join(dirname(device.root), "etc", "downlink", "agent.env");
  return [
    "enroll",
    "--config",
    configFile,
    "--storage-root",
    device.root,
    "--state-dir",
    device.stateDir,
    "--url",
    url,
  ];
}

/** Checks that the device is as `makeDevice` left it. */
function assertUntouched(device: Device): void {
  assert.deepEqual([readdirSync(dirname(device.root)), readdirSync(device.root)], [["root"], []]);
}

test("without flags the command names everything that it needs, and does not advise itself", async () => {
  using device = makeDevice();
  const config = ["--config", join(device.stateDir, "..", "agent.env")];
  const { code, stdout, stderr } = await runAgent("enroll", ...config);
  assert.deepEqual([code, stdout], [2, ""]);
  for (const need of ["--url URL", "--storage-root DIR", "--token-file FILE"]) assert.ok(stderr.includes(need), need);
  assert.doesNotMatch(stderr, /agent enroll/);
  const partly = await runAgent("enroll", ...config, "--token", "dl_dt_x", "--url", "https://downlink.example");
  assert.doesNotMatch(partly.stderr, /--url URL|--token-file/);
  assertUntouched(device);
});

test("a token that is refused leaves nothing behind: no state, no marker, no settings; and the message says what to do", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const { code, stderr } = await runAgent(...placesOf(device, cloud.url), "--token", "dl_dt_wrong");
  assert.equal(code, 1);
  assert.match(stderr, /^agent: the token is refused: .* Make a new token for this device/);
  assertUntouched(device);
  await cloud.goAway();
  const away = await runAgent(...placesOf(device, cloud.url), "--token", cloud.token);
  assert.match(away.stderr, /ECONNREFUSED.*Check the network/);
  assertUntouched(device);
});

test("a token that is refused only at the hello leaves nothing either, and earlier settings stay as they were", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.takeLeaseElsewhere();
  const places = placesOf(device, cloud.url);
  const fresh = await runAgent(...places, "--token", cloud.token);
  assert.match(fresh.stderr, /^agent: .* Stop the other agent/);
  assertUntouched(device);

  const configFile = places[2]!;
  mkdirSync(dirname(configFile), { recursive: true });
  mkdirSync(device.stateDir);
  writeFileSync(configFile, "DOWNLINK_LOG_LEVEL=debug\n");
  writeFileSync(join(device.stateDir, "a person's note"), "");
  await runAgent(...places, "--token", cloud.token);
  assert.equal(readFileSync(configFile, "utf8"), "DOWNLINK_LOG_LEVEL=debug\n");
  assert.deepEqual([readdirSync(device.stateDir), readdirSync(device.root)], [["a person's note"], []]);
});

test("a name that is taken leaves no secret behind; a lost answer does, and the same command completes it", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  cloud.enrolments.takenNames.add("rover-1");
  const command = [...placesOf(device, cloud.url), "--token", cloud.enrolmentToken, "--device-name"];
  const taken = await runAgent(...command, "rover-1");
  assert.match(taken.stderr, /Give another name with --device-name/);
  assertUntouched(device);
  cloud.fault = ({ name }) => (name === "enroll" ? { kind: "loseAnswer" } : undefined);
  const lost = await runAgent(...command, "rover-2");
  assert.match(lost.stderr, /the same command completes it/);
  assert.deepEqual([existsSync(command[2]!), readdirSync(device.root)], [false, []]);
  cloud.fault = () => undefined;
  const { code, stdout } = await runAgent(...command, "rover-2");
  assert.deepEqual([code, cloud.enrolments.made.length], [0, 1]);
  assert.match(stdout, /^Enrolled as /);
});

test("directories that cannot be written are found before anybody is asked, the one of the settings first, and are named in words", async (t) => {
  if (process.getuid?.() !== 0) return t.skip("needs root, to become somebody else");
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const nobody = { uid: 65_534, gid: 65_534 };
  const tryAs = async (...args: string[]) =>
    await startAgent([...placesOf(device, cloud.url), "--token", cloud.token, ...args], {}, { user: nobody }).exited;
  chmodSync(dirname(device.root), 0o755);
  chmodSync(device.root, 0o777);
  const config = await tryAs();
  assert.match(
    config.stderr,
    /^agent: the settings cannot be written to .*agent\.env: permission denied in .*--config FILE --state-dir DIR\n$/,
  );
  const own = join(device.root, "agent.env");
  const state = await tryAs("--config", own);
  assert.match(
    state.stderr,
    /^agent: the state directory .* cannot be made or written: permission denied in .*--state-dir DIR\n$/,
  );
  mkdirSync(device.stateDir, { mode: 0o777 });
  chmodSync(device.stateDir, 0o777);
  chmodSync(device.root, 0o755);
  const places = ["--config", join(device.stateDir, "agent.env")];
  const root = await tryAs(...places);
  assert.match(root.stderr, /^agent: the agent's marker cannot be written into the storage root .*: permission denied/);
  chmodSync(device.root, 0o700);
  const closed = await tryAs(...places);
  assert.match(closed.stderr, /^agent: the storage root .* cannot be used: permission denied\. Mount it/);
  for (const { code, stderr } of [config, state, root, closed])
    assert.deepEqual([code, /EACCES|EPERM/.test(stderr)], [2, false]);
  assert.deepEqual([cloud.calls, readdirSync(device.stateDir), readdirSync(device.root)], [[], [], []]);
});

test("an agent that runs with the same state is named, with how to stop and start it", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  await using agent = startDaemon(settingsFor(device, cloud));
  await agent.until("it is connected", ({ connection }) => connection.state === "connected");
  const { code, stderr } = await runAgent(...placesOf(device, cloud.url), "--token", cloud.token);
  assert.equal(code, 1);
  assert.match(stderr, /another agent \(pid \d+\) runs with .*Stop it, do this again, and start it again/);
});

test("a URL is accepted in every usual form, with or without the path of its calls", async () => {
  await using cloud = await FakeCloud.start();
  for (const end of ["/", "/v1", "/v1/"]) {
    using device = makeDevice();
    const [command, , configFile, ...places] = placesOf(device, cloud.url + end);
    const { code, stderr } = await runAgent(command!, "--config", configFile!, ...places, "--token", cloud.token);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(readFileSync(configFile!, "utf8"), new RegExp(`^DOWNLINK_API_URL=${cloud.url}$`, "m"));
    cloud.leaseMs = 0;
  }
});

test("a piped token takes the place of that of an earlier enrolment, which stays where nothing is piped", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const places = placesOf(device, cloud.url);
  assert.equal((await runAgent(...places, "--token", cloud.token)).code, 0);
  cloud.token = "dl_dt_anotherTokenOfTheSameDevice0123456789";
  const tokenNow = () => /^DOWNLINK_DEVICE_TOKEN=(\S+)$/m.exec(readFileSync(places[2]!, "utf8"))?.[1];
  assert.match((await startAgent(places, {}, { input: "" }).exited).stderr, /the token is refused/);
  assert.notEqual(tokenNow(), cloud.token);
  const { code, stderr } = await startAgent(places, {}, { input: `${cloud.token}\n` }).exited;
  assert.deepEqual([code, stderr, tokenNow()], [0, "", cloud.token]);
});

test("the whole machine is refused as a storage root", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const places = placesOf(device, cloud.url).map((part) => (part === device.root ? "/" : part));
  const { code, stderr } = await runAgent(...places, "--token", cloud.token);
  assert.deepEqual([code, /^agent: the storage root \/ is the whole machine/.test(stderr)], [2, true], stderr);
});

test("the token comes from the standard input or a file; only their owner may read the settings, whatever the umask", async () => {
  await using cloud = await FakeCloud.start();
  cloud.leaseMs = 0;
  using device = makeDevice();
  const places = placesOf(device, cloud.url);
  const piped = await startAgent(places, {}, { input: `${cloud.token}\n` }).exited;
  assert.deepEqual([piped.code, piped.stderr], [0, ""]);
  assert.deepEqual([statSync(places[2]!).mode & 0o777, statSync(dirname(places[2]!)).mode & 0o777], [0o600, 0o755]);
  const file = join(dirname(device.root), "token.txt");
  writeFileSync(file, `${cloud.token}\r\nnot this\n`);
  const fromFile = await runAgent(...places, "--token-file", file);
  assert.deepEqual([fromFile.code, fromFile.stderr], [0, ""]);
  const dash = await startAgent([...places, "--token-file", "-"], {}, { input: "dl_dt_other" }).exited;
  assert.match(dash.stderr, /the token is refused/);
  const empty = await startAgent([...places, "--token-file", "-"], {}, { input: "" }).exited;
  assert.match(empty.stderr, /the standard input holds no token in its first line\. The control plane makes a token/);
  const gone = await runAgent(...places, "--token-file", `${file}.gone`);
  assert.deepEqual([gone.code, /cannot be read from .*gone: it does not exist/.test(gone.stderr)], [2, true]);
});
