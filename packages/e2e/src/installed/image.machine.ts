import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { childrenOf, debianArchive } from "./machine.ts";
import { packageFile } from "./packages.ts";

// Buildah makes the images on a Debian of our own and runs them in a chroot, because no engine for containers can be had everywhere.

const ROOT = join(import.meta.dirname, "../../../..");
const debs = [packageFile("downlink_*_amd64.deb"), packageFile("downlink-agent_*_amd64.deb")];
const skip = whyNoImages() ?? false;
const PORT = 18_095;
const URL = `http://127.0.0.1:${PORT}`;

function whyNoImages(): string | undefined {
  if (process.getuid?.() !== 0) return "only root builds images here";
  const tools = ["buildah", "mmdebstrap"].filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
  if (tools.length > 0) return `${tools.join(", ")}: not installed`;
  return debs.includes(undefined) ? "no packages were made" : undefined;
}

const folder = mkdtempSync(join(tmpdir(), "downlink-images-"));
const running: ChildProcess[] = [];
after(async () => {
  for (const child of running.toReversed()) await end(child);
  rmSync(folder, { recursive: true, force: true });
});

const STORE = ["--storage-driver", "vfs", "--root", join(folder, "store"), "--runroot", join(folder, "run")];

function buildah(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync("buildah", [...STORE, ...args], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, `buildah ${args.join(" ")}\n${stdout}\n${stderr}`);
  return stdout.trim();
}

/** Starts the command of an image as its user, with the address of the machine. */
function start(image: string, flags: readonly string[]): ChildProcess {
  const container = buildah("from", "--pull-never", image);
  const { OCIv1 } = JSON.parse(buildah("inspect", container)) as {
    OCIv1: { config: { Entrypoint: string[]; Cmd: string[] } };
  };
  const command = [...OCIv1.config.Entrypoint, ...OCIv1.config.Cmd];
  const child = spawn("buildah", [...STORE, "run", "--isolation", "chroot", ...flags, container, "--", ...command], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout!.resume();
  running.push(child);
  return child;
}

/** Tells the program in the container to stop, as an engine does: Buildah itself would kill it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  process.kill(findProgram(child.pid!) ?? child.pid!, "SIGTERM");
  await ended;
}

function findProgram(pid: number): number | undefined {
  if (readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("/app/dist/main.js\0")) return pid;
  for (const child of childrenOf(pid)) {
    const found = findProgram(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Makes a folder that the user of an image owns, and returns the flags that mount it. */
function volume(image: string, path: string, user: string): string[] {
  const host = join(folder, path.replaceAll("/", "-"));
  mkdirSync(host, { recursive: true });
  const container = buildah("from", "--pull-never", image);
  const id = (flag: string) => Number(buildah("run", "--isolation", "chroot", container, "--", "id", flag, user));
  chownSync(host, id("-u"), id("-g"));
  return ["--volume", `${host}:${path}`];
}

test("both images are built from the packages", { skip }, () => {
  mkdirSync(join(folder, "out"));
  for (const deb of debs) cpSync(deb!, join(folder, "out", deb!.split("/").at(-1)!));
  const base = buildah("from", "scratch");
  buildah("add", base, debianArchive(), "/");
  buildah("commit", base, "debian-of-our-own");
  for (const [file, image] of [
    ["Containerfile", "downlink"],
    ["agent.Containerfile", "downlink-agent"],
  ] as const) {
    const build = ["build", "--isolation", "chroot", "--pull-never", "--build-arg", "BASE=localhost/debian-of-our-own"];
    buildah(...build, "--format", "docker", "-f", join(ROOT, "deploy", file), "-t", image, folder);
  }
});

test("the control plane of the image is ready, and its agent's recording is imported and exported", {
  skip,
}, async () => {
  const cloudVolume = volume("downlink", "/var/lib/downlink", "downlink");
  start("downlink", [...cloudVolume, "--env", `DOWNLINK_PORT=${PORT}`, "--env", "DOWNLINK_HOST=127.0.0.1"]);
  const isReady = () =>
    fetch(`${URL}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually(isReady, (ready) => ready);
  const key = readFileSync(join(cloudVolume[1]!.split(":")[0]!, "data/admin.key"), "utf8").trim();
  const call = async (method: string, path: string, body?: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await fetch(URL + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
    return answer.json();
  };
  const { id: deviceId } = (await call("POST", "/v1/devices", { name: "robot" })) as { id: string };
  const { token } = (await call("POST", "/v1/device-tokens", { deviceId })) as { token: string };

  const recordings = volume("downlink-agent", "/recordings", "downlink-agent");
  writeFileSync(join(recordings[1]!.split(":")[0]!, "run.mcap"), await makeMcap({ durationSeconds: 1 }));
  const state = volume("downlink-agent", "/var/lib/downlink-agent", "downlink-agent");
  const settings = [`DOWNLINK_API_URL=${URL}`, `DOWNLINK_DEVICE_TOKEN=${token}`];
  start("downlink-agent", [...recordings, ...state, ...settings.flatMap((setting) => ["--env", setting])]);

  const list = () => call("GET", "/v1/recordings") as Promise<{ id: string; importStatus: string }[]>;
  const [{ id } = { id: "" }] = await eventually(list, (found) => found.length === 1);
  await call("POST", `/v1/recordings/${id}/import`);
  await eventually(list, ([recording]) => recording!.importStatus === "complete");
  const { link } = (await call("POST", "/v1/data/stream", { recordingId: id })) as { link: string };
  const slice = Buffer.from(await (await fetch(link)).arrayBuffer());
  assert.equal(slice.subarray(1, 5).toString(), "MCAP");
});

test("the control plane stops in order, with its Postgres, and leaves its data in the volume", { skip }, async () => {
  assert.ok(existsSync(join(folder, "-var-lib-downlink/data/postgres/data/postmaster.pid")));
  for (const child of running.toReversed()) await end(child);
  const data = join(folder, "-var-lib-downlink/data");
  assert.ok(readdirSync(data).includes("objects"));
  const database = readdirSync(join(data, "postgres/data"));
  assert.deepEqual([database.includes("PG_VERSION"), database.includes("postmaster.pid")], [true, false]);
});
