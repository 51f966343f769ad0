import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { serve } from "@downlink/client/testing";
import { slowTest } from "@downlink/recordings/testing";
import { examineSetup } from "../commands/doctor.ts";
import { serveStatus } from "../status/socket.ts";
import { FakeCloud } from "../testing/fake-cloud.ts";
import { makeDevice, settingsFor, startDaemon } from "../testing/run-daemon.ts";
import { checkCloud } from "./check-cloud.ts";
import { checkStorageRoot } from "./check-directories.ts";
import { checkUploadWay } from "./check-system.ts";

test("if all is well every check is ok, and the running agent is not disturbed", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const settings = settingsFor(device, cloud);
  await using agent = startDaemon(settings);
  await agent.until("all is well", ({ health, storage }) => health === "healthy" && storage.lastScanAt !== null);
  const hellos = cloud.calls.filter(({ name }) => name === "hello").length;
  const findings = await examineSetup(settings);
  const disks = (check: string) => check.endsWith("disk"); // This machine's own disks may be nearly full.
  assert.deepEqual(
    findings.filter(({ check, verdict }) => verdict !== "ok" && !disks(check)),
    [],
  );
  for (const check of ["Agent", "State directory", "Storage root", "Root marker", "Deleting", "Control plane", "Token"])
    assert.ok(
      findings.some((finding) => finding.check === check),
      check,
    );
  assert.equal(cloud.calls.filter(({ name }) => name === "hello").length, hellos);
  assert.deepEqual(
    readdirSync(device.root).filter((name) => name.includes("probe")),
    [],
  );
});

test("a root without its marker, a missing one, and one that is no directory are failures that say what to do", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const settings = settingsFor(device, cloud);
  mkdirSync(device.stateDir);
  writeFileSync(join(device.stateDir, "owner.json"), JSON.stringify({ rootMarkerId: "abcdefghijklmnop" }));
  const verdictOf = async (check: string) =>
    (await checkStorageRoot(settings)).find((finding) => finding.check === check);
  const unmarked = await verdictOf("Root marker");
  assert.deepEqual([unmarked?.verdict, /no marker/.test(unmarked!.text)], ["fail", true]);
  assert.match(unmarked!.fix!, /Mount/);
  rmSync(device.root, { recursive: true });
  assert.match((await verdictOf("Storage root"))!.text, /ENOENT/);
  writeFileSync(device.root, "");
  assert.match((await verdictOf("Storage root"))!.text, /is not a directory/);
  assert.ok(existsSync(device.root));
});

test("a refused token, a server that is away, and one that is no control plane are different findings", async () => {
  await using cloud = await FakeCloud.start();
  const access = { apiUrl: cloud.url, token: cloud.token, dataUrl: undefined };
  const failures = async (changes: Partial<typeof access>) =>
    (await checkCloud({ ...access, ...changes })).filter(({ verdict }) => verdict === "fail");
  assert.deepEqual(await failures({}), []);
  const [refused] = await failures({ token: "dl_dt_wrong" });
  assert.deepEqual([refused?.check, /enroll/.test(refused!.fix!)], ["Token", true]);
  const [untrusted] = await failures({ apiUrl: cloud.url.replace("http:", "https:") });
  assert.deepEqual([untrusted?.check, /DOWNLINK_CA_FILE/.test(untrusted!.fix!)], ["TLS", true]);
  cloud.fault = () => ({ kind: "html", status: 200 });
  assert.match((await failures({}))[0]!.text, /not as a control plane/);
  await cloud.goAway();
  assert.match((await failures({}))[0]!.text, /ECONNREFUSED/);
});

test("a clock that is off is a warning that names by how much", async () => {
  await using cloud = await FakeCloud.start();
  await using ahead = await answerAs(new Date(Date.now() - 3_600_000));
  const findings = await checkCloud({ apiUrl: ahead.url, token: cloud.token, dataUrl: undefined });
  const clock = findings.find(({ check }) => check === "Clock");
  assert.deepEqual([clock?.verdict, clock?.text], ["warn", "60 min ahead of the control plane"]);
});

test("if bytes go to another host, that host is checked too", async () => {
  await using cloud = await FakeCloud.start();
  const findings = await checkCloud({ apiUrl: cloud.url, token: cloud.token, dataUrl: "http://127.0.0.1:1" });
  const uploads = findings.find(({ check }) => check === "Uploads");
  assert.equal(uploads?.verdict, "fail");
  assert.match(uploads.fix!, /DOWNLINK_PUBLIC_URL/);
});

/** Starts a server whose clock is off. */
function answerAs(date: Date) {
  return serve((_, response) => {
    response.sendDate = false;
    response.writeHead(200, { date: date.toUTCString() }).end('{"status":"live"}');
  });
}

test("uploads whose way is not allowed are a warning that names the setting which changes it", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  const checkWay = async (uploadInterfaces: string) =>
    await checkUploadWay(settingsFor(device, cloud, { uploadInterfaces }));
  const [denied] = await checkWay("!lo");
  assert.deepEqual([denied?.verdict, denied?.text], ["warn", "uploads wait: lo is denied"]);
  assert.match(denied!.fix!, /DOWNLINK_UPLOAD_INTERFACES/);
  assert.deepEqual(
    (await checkWay("lo")).map(({ verdict }) => verdict),
    ["ok"],
  );
  assert.deepEqual(await checkUploadWay(settingsFor(device, cloud)), []);
});

slowTest("an agent that runs and does not answer is a failure of its own, and the other checks go on", async () => {
  using device = makeDevice();
  await using cloud = await FakeCloud.start();
  mkdirSync(device.stateDir);
  await using _server = await serveStatus(device.stateDir, () => new Promise(() => {}));
  const findings = await examineSetup(settingsFor(device, cloud));
  const { verdict, text, fix } = findings.find(({ check }) => check === "Agent")!;
  assert.deepEqual([verdict, /does not answer/.test(text), /restart/.test(fix!)], ["fail", true, true]);
  assert.ok(findings.some(({ check, verdict: other }) => check === "Token" && other === "ok"));
});
