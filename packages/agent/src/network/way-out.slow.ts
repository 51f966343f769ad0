import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { createServer } from "node:tls";
import { type Authority, type Certificate, createAuthority, startTestProxy } from "@downlink/client/testing";
import { checkCloud } from "../doctor/check-cloud.ts";
import type { SettingName } from "../settings/settings.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { writeRecording } from "../testing/recordings.ts";
import { type Device, makeDevice, settingsFor, startDaemon, untilStatus } from "../testing/run-daemon.ts";
import { runAgent, startAgent } from "../testing/start-agent.ts";
import { firstHop, openWayOut } from "./way-out.ts";

/** A host name that only the proxy resolves. */
const HOST = "cloud.downlink.invalid";
const PASSWORD = "s3cret-word";

test("enroll, hello, long poll, parts, status and doctor all go through a proxy, to a private authority's TLS", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const authority = createAuthority("Robots");
  await using front = await standBefore(cloud, authority.issue(HOST));
  await using proxy = await startTestProxy({
    credentials: `rover:${PASSWORD}`,
    hosts: { [`${HOST}:443`]: front.address },
  });
  cloud.publicUrl = `https://${HOST}`;
  const proxyUrl = proxy.url.replace("//", `//rover:${PASSWORD}@`);
  const environment = { https_proxy: proxyUrl, DOWNLINK_CA_FILE: writeRoots(device, authority) };
  await writeRecording(device, "a.mcap", { sizeBytes: 300_000 });
  const configFile = join(device.root, "..", "agent.env");
  const config = ["--config", configFile];

  const flags = ["--token", cloud.token, "--url", cloud.publicUrl, "--storage-root", device.root];
  await enroll([...config, ...flags, "--state-dir", device.stateDir], environment);

  // From here on only the file says which way to take, as for the service.
  const quick = { DOWNLINK_SETTLE_TIME: "50ms", DOWNLINK_WATCH_SCAN_INTERVAL: "200ms" };
  await using agent = startAgent([...config, "run"], quick);
  await cloud.until("the file is reported", () => cloud.at("a.mcap")?.state === "indexed", 20_000);
  cloud.requestImport("a.mcap");
  await cloud.until("it is stored", () => cloud.uploads.stored.size === 1, 20_000);
  assertCalled(cloud, ["hello", "report", "work", "put", "completeUpload"]);
  assert.deepEqual(new Set(proxy.passed), new Set([`CONNECT ${HOST}:443`]));

  const doctor = await runAgent(...config, "doctor");
  assert.match(doctor.stdout, /ok\s+Proxy\s+calls go through http:\/\/127\.0\.0\.1:\d+/);
  assert.match(doctor.stdout, /ok\s+CA file\s.*: 2 authorities/);
  const shown = await runAgent(...config, "config");
  assert.match(shown.stdout, /HTTPS_PROXY\s+http:\/\/…@127\.0\.0\.1:\d+\/?\s+file/);
  proxy.answer = 407;
  proxy.cut();
  const refused = await untilStatus(device.stateDir, "the refusal is named", ({ problems }) =>
    problems.some(({ code }) => code === "ProxyRefused"),
  );
  agent.kill("SIGTERM");
  const { stdout, stderr } = await agent.exited;
  const text = [stdout, stderr, doctor.stdout, shown.stdout, JSON.stringify(refused)].join();
  assert.ok(!text.includes(PASSWORD) && text.includes("requires a user and a password"), "nothing shows the password");
});

async function enroll(flags: readonly string[], environment: Readonly<Record<string, string>>): Promise<void> {
  await using enrolment = startAgent([...flags, "enroll"], environment);
  assert.deepEqual({ ...(await enrolment.exited), stdout: "" }, { code: 0, stdout: "", stderr: "" });
}

function assertCalled({ calls }: FakeCloud, names: readonly string[]): void {
  const called = new Set(calls.map(({ name }) => name));
  for (const name of names) assert.ok(called.has(name), name);
}

test("what NO_PROXY names is called directly, and so is this machine, although the proxy is dead", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const errorWith = async (flags: Partial<Record<SettingName, string>>) => {
    await using agent = startDaemon(settingsFor(device, cloud, { httpProxy: "http://127.0.0.1:1", ...flags }));
    const { connection } = await agent.until("it knows", ({ connection: { state } }) => state !== "connecting");
    return connection.lastError ?? connection.state;
  };
  assert.equal(await errorWith({}), "connected");
  const apiUrl = `http://${HOST}`;
  const stateDir = join(device.root, "..", "other-state");
  assert.match(await errorWith({ apiUrl, stateDir }), /through the proxy http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/);
  assert.match(await errorWith({ apiUrl, stateDir, noProxy: "*.invalid" }), /^cannot reach [\w.]+: getaddrinfo/);
});

test("the interface that uploads may take is the one to the proxy", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const settings = settingsFor(device, cloud, { apiUrl: `https://${HOST}`, httpsProxy: "proxy.example:3128" });
  assert.equal(firstHop(`https://${HOST}/v1`, settings), "http://proxy.example:3128/");
  assert.equal(firstHop(`http://${HOST}/v1`, settings), `http://${HOST}/v1`);
});

test("an authority that comes into the CA file while the agent runs is trusted within seconds", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const authority = createAuthority("Robots");
  await using front = await standBefore(cloud, authority.issue("localhost"));
  const caFile = writeRoots(device, createAuthority("Strangers"));
  const configFile = join(device.root, "..", "agent.env");
  const apiUrl = `https://localhost:${front.address.split(":")[1]}`;
  writeFileSync(configFile, `DOWNLINK_API_URL=${apiUrl}\nDOWNLINK_CA_FILE=${caFile}\n`);
  const own = ["--token", cloud.token, "--storage-root", device.root, "--state-dir", device.stateDir];
  await using _agent = startAgent([...own, "--config", configFile, "run"]);
  await untilStatus(device.stateDir, "it is not trusted", ({ problems }) => problems[0]?.code === "TlsFailed");
  writeRoots(device, authority);
  await untilStatus(device.stateDir, "it is connected", ({ connection }) => connection.state === "connected");
});

test("a CA file that is missing, empty or broken is a plain error at the start and in doctor, and writes nothing", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const authority = createAuthority("Robots");
  const caFile = writeRoots(device, authority);
  const bodies: [text: string | undefined, complaint: RegExp][] = [
    [undefined, /DOWNLINK_CA_FILE: cannot read .*roots\.pem: ENOENT/],
    ["", /roots\.pem holds no certificate in PEM/],
    [authority.key, /roots\.pem holds no certificate in PEM/],
    [`${authority.cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`, /broken at certificate 2/],
  ];
  for (const [text, complaint] of bodies) {
    const path = text === undefined ? join(device.root, "no", "roots.pem") : caFile;
    if (text !== undefined) writeFileSync(caFile, text);
    const settings = settingsFor(device, cloud, { caFile: path });
    await assert.rejects(startDaemon(settings).ended, complaint);
    assert.ok(!existsSync(device.stateDir));
    const findings = await checkCloud({ ...settings, token: cloud.token, dataUrl: undefined });
    assert.deepEqual(
      findings.map(({ check, verdict }) => [check, verdict]),
      [["CA file", "fail"]],
    );
    assert.match(findings[0]!.text, complaint);
  }
  writeFileSync(caFile, `# of ours\n${authority.cert}\n${authority.cert}`);
  assert.equal(openWayOut(settingsFor(device, cloud, { caFile })).extraRoots?.length, 2);
});

/** Writes two authorities into a file; the right one is the last. */
function writeRoots(device: Device, authority: Authority): string {
  const path = join(device.root, "..", "roots.pem");
  writeFileSync(path, `# ours\n${createAuthority("Others").cert}\n${authority.cert}`);
  assert.ok(readFileSync(path, "utf8").includes("BEGIN"));
  return path;
}

/** Terminates TLS before the cloud, as a reverse proxy does. */
async function standBefore(cloud: FakeCloud, certificate: Certificate) {
  const sockets = new Set<Socket>();
  const server = createServer({ ...certificate }, (near) => {
    const far = connect(Number(new URL(cloud.url).port), "127.0.0.1");
    for (const socket of [near, far]) sockets.add(socket.on("error", () => socket.destroy()));
    near.pipe(far).pipe(near);
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
