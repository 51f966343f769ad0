import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Ceph, runCeph } from "@downlink/cloud/testing/run-ceph";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { inBucket } from "../../processes/in-bucket.ts";
import type { Replica } from "../replica.ts";
import { type ReplicaSet, startReplicaSet } from "../replica-set.ts";
import { keepJobJournal } from "./job-journal.ts";
import { type LoadedRobot, startRobot } from "./robots.ts";

/** The processes that are killed: those of a control plane, and the agents of two robots. */
export interface KillBed extends AsyncDisposable {
  readonly set: ReplicaSet;
  readonly robots: readonly LoadedRobot[];
  /** Undefined if the objects are files. */
  readonly bucket: Ceph | undefined;
  /** Counts the stored objects by SHA-256. */
  countObjects(): Promise<Map<string, number>>;
  /** Resolves when each robot has finished something. */
  untilBusy(): Promise<void>;
  /** Suspends a process for so long, while others go on. */
  freezeBeside(replica: Replica, ms: number): void;
  isAnyFrozen(): boolean;
  /** Resolves when no process is suspended any more. */
  thawed(): Promise<void>;
}

export interface KillBedOptions {
  readonly isInBucket: boolean;
  /** The `packages/` of the checkout of its processes; undefined: of this one. */
  readonly packages?: URL;
}

export async function openKillBed({ isInBucket, packages }: KillBedOptions): Promise<KillBed> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "downlink-kills-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const bucket = isInBucket ? stack.use(await runCeph()) : undefined;
  const name = await bucket?.makeBucket();
  const env = bucket && name ? inBucket(bucket, name) : {};
  const set = stack.use(await startReplicaSet({ dataDir: join(folder, "cloud"), env, packages }));
  await keepJobJournal(set);
  const robots = [
    stack.use(await startRobot(set, { name: "keeping", folder, isDeleting: false })),
    stack.use(await startRobot(set, { name: "deleting", folder, isDeleting: true })),
  ];
  let frozen: Promise<void> | undefined;
  const owned = stack.move();
  return {
    ...{ set, robots, bucket },
    countObjects: async () => countBy(bucket && name ? await bucket.readObjects(name) : await set.storedObjects()),
    untilBusy: () => untilBusy(set, robots),
    isAnyFrozen: () => frozen !== undefined,
    freezeBeside(replica, ms) {
      const freezing = replica.freeze(ms).finally(() => {
        frozen = undefined;
      });
      freezing.catch(() => {}); // The process ended by itself, which the set reports.
      frozen = freezing;
    },
    thawed: async () => frozen,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function untilBusy(set: ReplicaSet, robots: readonly LoadedRobot[]): Promise<void> {
  for (const { deviceId } of robots)
    await eventually(
      () => set.admin.call(api.recordings.list, { deviceId }),
      (all) => all.some(({ importStatus }) => importStatus === "complete"),
    );
}

function countBy(objects: readonly { readonly sha256: string }[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { sha256 } of objects) counts.set(sha256, (counts.get(sha256) ?? 0) + 1);
  return counts;
}
