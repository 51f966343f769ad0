import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  ContainerClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import type { TestObject } from "../../../testing/test-store.ts";
import { readObjects } from "./container-objects.ts";

const CACHE = process.env.XDG_CACHE_HOME || join(homedir(), ".cache");
const PROGRAM = join(CACHE, "downlink/azurite-3.37.0/node_modules/azurite/dist/src/blob/main.js");
const START_MS = 60_000;

/**
 * Returns the reason why there is no emulator of Azure here, or undefined if it is installed. It also prints the reason, because skipped
 * tests prove nothing. In a CI run, which installs it, it throws instead.
 */
export function whyNoAzurite(): string | undefined {
  if (existsSync(PROGRAM)) return undefined;
  const reason = "NOT TESTED against Azure: Azurite is missing (scripts/install-azurite.sh installs it)";
  if (process.env.CI) throw new Error(reason);
  console.error(reason);
  return reason;
}

export interface Azurite extends AsyncDisposable {
  readonly account: string;
  /** The address of the account's blobs. */
  readonly endpoint: string;
  readonly accountKey: string;
  /** Makes a new container and returns its name. */
  makeContainer(): Promise<string>;
  /** Returns a shared access signature for a container with these permissions, such as `rwdl`. */
  signFor(container: string, permissions: string): string;
  /** Returns name, size and SHA-256 of every blob in a container. */
  readBlobs(container: string): Promise<TestObject[]>;
  /** Opens a container with the key of the account. */
  open(container: string): ContainerClient;
}

/** Starts Azurite on a free port. It keeps everything in memory, and ends when this process ends, in whatever way. */
export async function runAzurite(): Promise<Azurite> {
  const dir = await mkdtemp(join(tmpdir(), "azurite-"));
  const [account, accountKey] = ["downlinktests", randomBytes(64).toString("base64")];
  const child = spawn(process.execPath, [join(import.meta.dirname, "azurite-child.ts"), PROGRAM], {
    cwd: dir,
    env: { ...process.env, AZURITE_ACCOUNTS: `${account}:${accountKey}` },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const address = await findAddress(child.stdout);
  const endpoint = `${address}/${account}`;
  const credential = new StorageSharedKeyCredential(account, accountKey);
  const open = (container: string) => new ContainerClient(`${endpoint}/${container}`, credential);
  return {
    ...{ account, accountKey, endpoint, open },
    async makeContainer() {
      const name = `container-${randomBytes(6).toString("hex")}`;
      await open(name).create();
      return name;
    },
    signFor(containerName, permissions) {
      const expiresOn = new Date(Date.now() + 3_600_000);
      const signed = { containerName, permissions: ContainerSASPermissions.parse(permissions), expiresOn };
      return generateBlobSASQueryParameters(signed, credential).toString();
    },
    readBlobs: (container) => readObjects({ kind: "azure", account, endpoint, container, accountKey }),
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function findAddress(output: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface(output);
  const timer = setTimeout(() => lines.close(), START_MS);
  try {
    for await (const line of lines) {
      const address = /successfully listens? on (http:\S+)/.exec(line)?.[1];
      if (address) return address;
    }
  } finally {
    clearTimeout(timer);
    output.resume();
  }
  throw new Error("Azurite did not start");
}
