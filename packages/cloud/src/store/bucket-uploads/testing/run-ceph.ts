import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp, readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import type { TestObject } from "../../../testing/test-store.ts";
import {
  allowReads,
  fillBucket,
  keepVersions,
  makeBucket,
  type ReadPermission,
  readObjects,
} from "./bucket-objects.ts";

const SCRIPT = join(import.meta.dirname, "../../../../../../scripts/run-ceph.sh");
const PROGRAMS = ["ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph-authtool", "curl"];
const IN_MEMORY = "/dev/shm";

/**
 * Returns the reason why there is no real S3 here, or undefined if Ceph is installed. It also prints the reason, because skipped tests
 * prove nothing. In a CI run that could have installed Ceph it throws instead.
 */
export function whyNoCeph(): string | undefined {
  const missing = PROGRAMS.filter((program) => !isInstalled(program));
  const why = process.getuid?.() === 0 ? [] : ["it runs as root only"];
  if (missing.length > 0) why.push(`${missing.join(", ")} missing (scripts/run-ceph.sh names Debian's packages)`);
  if (why.length === 0) return undefined;
  const reason = `NOT TESTED against a real S3: ${why.join("; ")}`;
  if (process.env.CI && process.getuid?.() === 0 && isInstalled("apt-get")) throw new Error(reason);
  console.error(reason);
  return reason;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Ceph extends AsyncDisposable {
  readonly endpoint: string;
  readonly owner: Credentials;
  /** A user that has only the permissions that a test gave it. */
  readonly reader: Credentials;
  /** Makes a new bucket of the owner and returns its name. */
  makeBucket(): Promise<string>;
  /** From now on the bucket keeps every version of its objects. */
  keepVersions(bucket: string): Promise<void>;
  /** Lets the reader list a bucket of the owner and read its objects, or only what is allowed, and nothing else. */
  letRead(bucket: string, allowed?: readonly ReadPermission[]): Promise<void>;
  /** Writes the same bytes under each of the names, many at once. */
  fill(bucket: string, names: Iterable<string>, bytes: Uint8Array): Promise<void>;
  /** Returns what Ceph's own log says that the reader asked for, each as method and path. */
  callsOfReader(): Promise<string[]>;
  /** Returns key, size and SHA-256 of every object in a bucket. */
  readObjects(bucket: string): Promise<TestObject[]>;
  /** Kills the gateway: no request is answered from then on. */
  stopGateway(): Promise<void>;
  /** Kills the gateway, which is all that a client sees of the bucket, and resolves when it serves again. */
  restartGateway(): Promise<void>;
}

const READER = "reader";
/** For example: beast: 0x7f6e: 127.0.0.1 - reader [23/Nov/2026:20:18:22.760 +0000] "GET /bucket/name HTTP/1.1" 200 … */
const CALL_OF_READER = new RegExp(`beast: \\S+ \\S+ - ${READER} \\[[^\\]]*\\] "(\\S+ \\S+) HTTP`, "g");

/** Another program may take a port between the look for free ones and their use. */
const START_ATTEMPTS = 3;

/** Starts Ceph on free ports; it ends when this process ends, in whatever way. */
export async function runCeph(): Promise<Ceph> {
  for (let left = START_ATTEMPTS - 1; left > 0; left -= 1) {
    const started = await startOnFreePorts().catch((error: Error) =>
      console.error(`${error.message}; another attempt`),
    );
    if (started) return started;
  }
  return await startOnFreePorts();
}

async function startOnFreePorts(): Promise<Ceph> {
  const dir = await mkdtemp(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), "ceph-"));
  const [port, monitorPort] = [await freePort(), await freePort()];
  const args = [SCRIPT, dir, String(port), String(monitorPort)];
  const script = spawn("bash", args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(script, "exit");
  const lines = createInterface(script.stdout)[Symbol.asyncIterator]();
  await untilReady(lines);
  const command = async (text: string) => {
    script.stdin.write(`${text}\n`);
    await untilReady(lines);
  };
  const [endpoint, owner] = [`http://127.0.0.1:${port}`, credentialsOf("ci")];
  const placeOf = (bucket: string) => ({ endpoint, bucket, credentials: owner });
  return {
    endpoint,
    owner,
    reader: credentialsOf(READER),
    async makeBucket() {
      const name = `bucket-${randomBytes(6).toString("hex")}`;
      await makeBucket(placeOf(name));
      return name;
    },
    keepVersions: (bucket) => keepVersions(placeOf(bucket)),
    letRead: (bucket, allowed) => allowReads(placeOf(bucket), READER, allowed),
    fill: (bucket, names, bytes) => fillBucket(placeOf(bucket), names, bytes),
    async callsOfReader() {
      const log = await readFile(join(dir, "log/client.rgw.a.log"), "utf8");
      return [...log.matchAll(CALL_OF_READER)].map(([, call]) => call!);
    },
    readObjects: (bucket) => readObjects(placeOf(bucket)),
    stopGateway: () => command("stop-gateway"),
    restartGateway: () => command("restart-gateway"),
    async [Symbol.asyncDispose]() {
      script.stdin.end();
      await ended;
    },
  };
}

async function untilReady(lines: AsyncIterator<string>): Promise<void> {
  for (let line = await lines.next(); !line.done; line = await lines.next()) if (line.value === "ready") return;
  throw new Error("Ceph did not start");
}

function credentialsOf(user: string): Credentials {
  return { accessKeyId: `${user}accesskey`, secretAccessKey: `${user}secretkey012345` };
}

function isInstalled(program: string): boolean {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
