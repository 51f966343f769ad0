import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { CreateBucketCommand, GetObjectCommand, paginateListObjectsV2, S3Client } from "@aws-sdk/client-s3";

const SCRIPT = join(import.meta.dirname, "../../../../../scripts/run-ceph.sh");
const PROGRAMS = ["ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "monmaptool", "ceph-authtool", "curl"];
const IN_MEMORY = "/dev/shm";

/** Why there is no real S3 here; undefined where Ceph is installed. Said loudly: what is skipped is not proven. */
export function whyNoCeph(): string | undefined {
  const missing = PROGRAMS.filter((program) => !isInstalled(program));
  const why = process.getuid?.() === 0 ? [] : ["it runs as root only"];
  if (missing.length > 0) why.push(`${missing.join(", ")} missing (scripts/run-ceph.sh names Debian's packages)`);
  if (why.length === 0) return undefined;
  const reason = `NOT TESTED against a real S3: ${why.join("; ")}`;
  console.error(reason);
  return reason;
}

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

interface StoredObject {
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface Ceph extends AsyncDisposable {
  readonly endpoint: string;
  readonly owner: Credentials;
  /** Knows of nothing that nobody allowed it. */
  readonly reader: Credentials;
  /** A new bucket of the owner; answers its name. */
  makeBucket(): Promise<string>;
  /** Key, size and SHA-256 of every object in a bucket. */
  readObjects(bucket: string): Promise<StoredObject[]>;
}

/** Ceph on free ports; it ends with this process, however that ends. */
export async function runCeph(): Promise<Ceph> {
  const dir = await mkdtemp(join(existsSync(IN_MEMORY) ? IN_MEMORY : tmpdir(), "ceph-"));
  const [port, monitorPort] = [await freePort(), await freePort()];
  const args = [SCRIPT, dir, String(port), String(monitorPort)];
  const script = spawn("bash", args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(script, "exit");
  const ready = (async () => {
    for await (const line of createInterface(script.stdout)) if (line === "ready") return;
    throw new Error("Ceph did not start");
  })();
  await ready;
  const [endpoint, owner] = [`http://127.0.0.1:${port}`, credentialsOf("ci")];
  const client = new S3Client({ endpoint, region: "us-east-1", forcePathStyle: true, credentials: owner });
  return {
    endpoint,
    owner,
    reader: credentialsOf("reader"),
    async makeBucket() {
      const name = `bucket-${randomBytes(6).toString("hex")}`;
      await client.send(new CreateBucketCommand({ Bucket: name }));
      return name;
    },
    readObjects: (bucket) => readObjects(client, bucket),
    async [Symbol.asyncDispose]() {
      client.destroy();
      script.stdin.end();
      await ended;
    },
  };
}

async function readObjects(client: S3Client, bucket: string): Promise<StoredObject[]> {
  const objects: StoredObject[] = [];
  for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: bucket }))
    for (const { Key, Size } of Contents) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: Key! }));
      const hash = createHash("sha256").update(await Body!.transformToByteArray());
      objects.push({ key: Key!, sizeBytes: Size!, sha256: hash.digest("hex") });
    }
  return objects;
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
