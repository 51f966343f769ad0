import { createHash } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { type KeptAgent, keepRunning } from "../../faults/keep-running.ts";
import type { ReplicaSet } from "../replica-set.ts";

/** A device with a real agent, to which recordings are added all the time. All of them are imported without a request. */
export interface LoadedRobot extends AsyncDisposable {
  readonly name: string;
  readonly deviceId: string;
  readonly storageRoot: string;
  readonly agent: KeptAgent;
  /** The file into which its agents write their durable steps. */
  readonly journal: string;
  /** The SHA-256 of every file that ever existed, by its path. */
  readonly files: ReadonlyMap<string, string>;
  /** Adds files until the signal, and then resolves. */
  keepRecording(stopping: AbortSignal): Promise<void>;
}

interface Options {
  readonly name: string;
  readonly folder: string;
  /** Files are deleted on the device once they are imported. */
  readonly isDeleting: boolean;
}

const journalSteps = new URL("../../faults/journal-steps.ts", import.meta.url).href;
const PAUSE_MS = 2000;
/** One of so many files takes two parts. */
const LARGE_EVERY = 20;
const large = {
  topics: [{ topic: "/blob", kind: "blob" as const, rateHz: 24, sizeBytes: 800_000 }],
  compression: "" as const,
};
const NS_PER_SECOND = 1_000_000_000n;

export async function startRobot(set: ReplicaSet, { name, folder, isDeleting }: Options): Promise<LoadedRobot> {
  const [storageRoot, stateDir, journal] = [
    join(folder, name),
    join(folder, `${name}-state`),
    join(folder, `${name}-journal`),
  ];
  await mkdir(storageRoot);
  const { deviceId, token } = await enrollDevice(set.makeClient(20), name, isDeleting);
  const files = new Map<string, string>();
  const env = { FAULTS_JOURNAL: journal, DOWNLINK_SETTLE_TIME: "50ms", DOWNLINK_WATCH_SCAN_INTERVAL: "1s" };
  const agent = keepRunning({ url: set.url, token, storageRoot, stateDir, env, nodeArgs: ["--import", journalSteps] });
  return {
    ...{ name, deviceId, storageRoot, agent, journal, files },
    async keepRecording(stopping) {
      for (let number = 0; !stopping.aborted; number++) {
        await addFile({ storageRoot, name, files }, number);
        await delay(PAUSE_MS, undefined, { signal: stopping }).catch(() => {});
      }
    },
    [Symbol.asyncDispose]: () => agent[Symbol.asyncDispose](),
  };
}

async function enrollDevice(admin: Client, name: string, autoDeleteAfterImport: boolean) {
  const { id: deviceId } = await admin.call(api.devices.create, { name });
  await admin.call(api.devices.update, { nameOrId: deviceId, autoDeleteAfterImport });
  await admin.call(api.agentSettings.put, { nameOrId: deviceId, autoImport: ["**"] });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  return { deviceId, token: token! };
}

/** The file is written under another name first, so that it is whole when it is seen. */
async function addFile(
  { storageRoot, name, files }: { storageRoot: string; name: string; files: Map<string, string> },
  number: number,
): Promise<void> {
  const path = `${number}.mcap`;
  const metadata = [{ name: "made", metadata: { by: name, number: String(number) } }];
  const startNs = 1_760_000_000n * NS_PER_SECOND + BigInt(number) * 60n * NS_PER_SECOND;
  const bytes = await makeMcap({ startNs, durationSeconds: 1, metadata, ...(number % LARGE_EVERY === 2 ? large : {}) });
  files.set(path, createHash("sha256").update(bytes).digest("hex"));
  await writeFile(join(storageRoot, `${path}.part`), bytes);
  await rename(join(storageRoot, `${path}.part`), join(storageRoot, path));
}
