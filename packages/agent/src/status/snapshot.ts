import { statfs } from "node:fs/promises";
import { formatTimestamp } from "@downlink/protocol";
import type { CloudSession } from "../cloud/session.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { Uploads } from "../imports/upload-loop.ts";
import { isFileSystemError } from "../indexing/examine-file.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { StateFacts } from "../inventory/owner.ts";
import { type ProblemBoard, problemTexts } from "../problems.ts";
import { agentVersion } from "../version.ts";
import type { StatusDocument } from "./status-schema.ts";

export interface SnapshotContext {
  readonly startedNs: bigint;
  readonly stateDir: string;
  readonly apiUrl: string;
  readonly session: CloudSession;
  readonly storageRoot: StorageRoot;
  readonly inventory: Inventory;
  readonly uploads: Uploads;
  readonly problems: ProblemBoard;
  readonly facts: StateFacts;
}

/** All there is to say about a running agent. */
export async function takeSnapshot(ctx: SnapshotContext): Promise<StatusDocument> {
  const problems = ctx.problems.list();
  const { state, sinceNs, lastContactNs, clockSkewMs, lastError } = ctx.session.connection();
  const isHealthy = problems.length === 0 && state === "connected";
  const owner = ctx.facts.owner();
  return {
    version: 1,
    health: isHealthy ? "healthy" : "degraded",
    agent: { version: agentVersion, pid: process.pid, startedAt: formatTimestamp(ctx.startedNs) },
    device: {
      id: owner.deviceId ?? null,
      name: owner.deviceName ?? null,
      projectId: owner.projectId ?? null,
      orgId: owner.orgId ?? null,
    },
    apiUrl: ctx.apiUrl,
    stateDir: ctx.stateDir,
    connection: {
      state,
      since: formatTimestamp(sinceNs),
      lastContactAt: lastContactNs === undefined ? null : formatTimestamp(lastContactNs),
      clockSkewMs: clockSkewMs ?? null,
      lastError: lastError ?? null,
    },
    storage: await describeStorage(ctx.storageRoot),
    files: { ...ctx.inventory.countByState() },
    transfers: ctx.uploads.transfers().map((transfer) => ({ ...transfer, secondsLeft: transfer.secondsLeft ?? null })),
    problems: problems.map(({ code, detail, sinceNs: since }) => ({
      code,
      ...problemTexts[code],
      detail,
      since: formatTimestamp(since),
    })),
  };
}

async function describeStorage(storageRoot: StorageRoot): Promise<StatusDocument["storage"]> {
  const isPresent = storageRoot.current() !== undefined;
  const disk = isPresent ? await measureDisk(storageRoot.path) : undefined;
  const scan = storageRoot.lastScan();
  return {
    root: storageRoot.path,
    isPresent,
    totalBytes: disk?.totalBytes ?? null,
    freeBytes: disk?.freeBytes ?? null,
    lastScanAt: scan ? formatTimestamp(scan.endedNs) : null,
    lastScanMs: scan ? Math.round(scan.tookMs) : null,
  };
}

/** `freeBytes` is what an ordinary user may still write. */
export async function measureDisk(path: string): Promise<{ totalBytes: number; freeBytes: number } | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
  } catch (error) {
    if (isFileSystemError(error)) return undefined;
    throw error;
  }
}
