import type { AgentStatus } from "@downlink/protocol";
import { type Problem, type ProblemBoard, problemTexts } from "../diagnostics/problems.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { FileState } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { lifeOf } from "../inventory/tracked-file.ts";
import type { Clock } from "../system/clock.ts";
import { measureDisk } from "../system/measure-disk.ts";
import type { Throttle } from "../uploads/throttle.ts";
import type { Transfer } from "../uploads/transfers.ts";
import type { Uploads } from "../uploads/upload-loop.ts";

export interface StatusContext {
  readonly inventory: Inventory;
  readonly problems: ProblemBoard;
  readonly storageRoot: StorageRoot;
  readonly uploads: Uploads;
  readonly throttle: Throttle;
  readonly clock: Clock;
}

/** The limit of the contract. */
const MAX_PROBLEMS = 20;
const MAX_TRANSFERS = 16;
const MAX_TEXT = 1000;
const MAX_REASON = 300;
const SECOND_MS = 1000;

/** Makes the status of this agent that each heartbeat sends to the control plane. */
export async function describeStatus(ctx: StatusContext): Promise<AgentStatus> {
  const { inventory, problems, storageRoot, uploads, throttle, clock } = ctx;
  const { pausedBecause, untilNs } = throttle.state();
  return {
    files: { ...inventory.countByState() },
    disk: storageRoot.current() ? await describeDisk(storageRoot.path) : undefined,
    problems: problems.list().slice(0, MAX_PROBLEMS).map(toProblem),
    transfers: uploads.transfers().slice(0, MAX_TRANSFERS).map(toTransfer),
    throttle: pausedBecause === undefined ? undefined : { reason: pausedBecause.slice(0, MAX_REASON), until: untilNs },
    oldestNotImportedAt: oldestNotImported(inventory),
    bootedAt: bootTimeNs(clock),
  };
}

async function describeDisk(path: string): Promise<AgentStatus["disk"]> {
  const disk = await measureDisk(path);
  return disk && { totalBytes: disk.totalBytes, freeBytes: disk.freeBytes };
}

function toProblem({ code, detail, sinceNs: since }: Problem): AgentStatus["problems"][number] {
  const { title, fix } = problemTexts[code];
  return { code, text: detail.slice(0, MAX_TEXT), since, title, fix: fix.slice(0, MAX_TEXT) };
}

/** The sum may be negative for a moment, where bytes that were counted turn out to be missing. */
function toTransfer({ recordingId, sentBytes, bytesPerSecond }: Transfer) {
  return { recordingId, sentBytes: Math.max(0, sentBytes), bytesPerSecond };
}

/** A recording in one of these states is not imported, and may yet be. */
const notImported: ReadonlySet<FileState> = new Set([
  "indexed",
  "reported",
  "requested",
  "uploading",
  "stored",
  "failed",
]);

function oldestNotImported(inventory: Inventory): bigint | undefined {
  let oldestNs: bigint | undefined;
  for (const file of inventory.files())
    if (file.endNs !== undefined && notImported.has(lifeOf(file)) && (oldestNs === undefined || file.endNs < oldestNs))
      oldestNs = file.endNs;
  return oldestNs;
}

/** It is rounded to the second, so that it is the same in each heartbeat until the clock is set. */
function bootTimeNs(clock: Clock): bigint {
  const bootMs = Number(clock.nowNs() / 1_000_000n) - clock.uptimeMs();
  return BigInt(Math.round(bootMs / SECOND_MS)) * 1_000_000_000n;
}
