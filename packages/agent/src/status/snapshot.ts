import { formatTimestamp } from "@downlink/protocol";
import { formatBytes } from "@downlink/terminal/amounts";
import type { ClockSkew } from "../cloud/clock-skew.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { Deletions } from "../deleting/deletion-loop.ts";
import { type ProblemBoard, type ProblemCode, problemTexts } from "../diagnostics/problems.ts";
import type { DiskForecast } from "../files/disk-forecast.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";
import { correctedNs, type Instant } from "../system/instant.ts";
import { measureDisk } from "../system/measure-disk.ts";
import { agentVersion } from "../system/version.ts";
import type { Throttle, ThrottleState } from "../uploads/throttle.ts";
import type { Uploads } from "../uploads/upload-loop.ts";
import { describePause } from "./describe-pause.ts";
import type { StatusDocument } from "./status-schema.ts";

export interface SnapshotContext {
  readonly started: Instant;
  readonly stateDir: string;
  readonly apiUrl: string;
  readonly session: CloudSession;
  readonly skew: ClockSkew;
  readonly storageRoot: StorageRoot;
  readonly inventory: Inventory;
  readonly uploads: Uploads;
  readonly problems: ProblemBoard;
  readonly facts: StateFacts;
  readonly clock: Clock;
  readonly throttle: Throttle;
  readonly forecast: DiskForecast;
  readonly deletions: Deletions;
}

const MAX_RETRIES = 100;
const problemCodes = Object.keys(problemTexts) as ProblemCode[];
const SHOWN_DELETIONS = 10;

/** Says the status in a few words, for `systemctl status`. */
export function summarize({
  session,
  inventory,
  uploads,
  problems,
}: Pick<SnapshotContext, "session" | "inventory" | "uploads" | "problems">): string {
  const { state } = session.connection();
  return `${state}, ${inventory.size} files, ${uploads.transfers().length} uploads, ${problems.list().length} problems`;
}

/** Makes the whole status of a running agent. */
export async function takeSnapshot(ctx: SnapshotContext): Promise<StatusDocument> {
  ctx.skew.judge();
  const problems = ctx.problems.list().toSorted((a, b) => weightOf(a.code) - weightOf(b.code));
  const { state, sinceNs, lastContactNs, lastError } = ctx.session.connection();
  const isHealthy = problems.length === 0 && state === "connected";
  const owner = ctx.facts.owner();
  return {
    version: 1,
    health: isHealthy ? "healthy" : "degraded",
    agent: { version: agentVersion, pid: process.pid, startedAt: formatTimestamp(correctedNs(ctx.started, ctx.clock)) },
    device: {
      id: owner.deviceId ?? null,
      name: owner.deviceName ?? null,
      projectId: owner.projectId ?? null,
      projectName: owner.projectName ?? null,
      orgId: owner.orgId ?? null,
    },
    site: { id: owner.siteId ?? null, name: owner.siteName ?? null },
    apiUrl: ctx.apiUrl,
    stateDir: ctx.stateDir,
    connection: {
      state,
      since: formatTimestamp(sinceNs),
      lastContactAt: lastContactNs === undefined ? null : formatTimestamp(lastContactNs),
      clockSkewMs: ctx.skew.currentMs() ?? null,
      lastError: lastError ?? null,
    },
    storage: await describeStorage(ctx),
    files: { ...ctx.inventory.countByState() },
    transfers: ctx.uploads
      .transfers()
      .map(({ recordingId: _, ...transfer }) => ({ ...transfer, secondsLeft: transfer.secondsLeft ?? null })),
    retries: describeRetries(ctx),
    throttle: describeThrottle(ctx.throttle.state()),
    pause: describePause(ctx.throttle.state().pause),
    deletions: describeDeletions(ctx),
    counters: { ...ctx.uploads.counters(), scans: ctx.storageRoot.scans() },
    problems: problems.map(({ code, detail, sinceNs: since }) => ({
      code,
      ...problemTexts[code],
      detail,
      since: formatTimestamp(since),
    })),
  };
}

function describeDeletions({ deletions, inventory, clock }: SnapshotContext): StatusDocument["deletions"] {
  const { planned, nextPath, waiting, heldUntilNs, deletedFiles } = deletions.overview();
  return {
    planned: planned.map(({ heldForMs, ...rule }) => ({
      ...rule,
      heldUntil: heldForMs === undefined ? null : timeIn(heldForMs, clock),
    })),
    nextPath: nextPath ?? null,
    waiting: { files: waiting.files, text: waiting.text ?? null },
    heldUntil: heldUntilNs === undefined ? null : formatTimestamp(heldUntilNs),
    deletedFiles,
    last: inventory
      .lastDeleted(SHOWN_DELETIONS)
      .map(({ atNs, ...deletion }) => ({ ...deletion, deletedAt: formatTimestamp(atNs) })),
  };
}

/** Returns the order of problems: those that cause others come first, as in the table. */
function weightOf(code: ProblemCode): number {
  return problemCodes.indexOf(code);
}

function timeIn(ms: number, clock: Clock): string {
  return formatTimestamp(clock.nowNs() + BigInt(Math.ceil(ms)) * 1_000_000n);
}

function describeRetries({ uploads, clock }: SnapshotContext): StatusDocument["retries"] {
  const retries = uploads.retries().slice(0, MAX_RETRIES);
  return retries.map(({ inMs, ...retry }) => ({ ...retry, nextTryAt: timeIn(inMs, clock) }));
}

function describeThrottle({ pausedBecause, ...state }: ThrottleState): StatusDocument["throttle"] {
  const limit = state.bytesPerSecond === undefined ? undefined : `limited to ${formatBytes(state.bytesPerSecond)}/s`;
  const slow = state.isSlowLink ? "slow link: one part at a time" : undefined;
  return {
    isPaused: pausedBecause !== undefined,
    text: pausedBecause ?? ([limit, slow].filter((part) => part !== undefined).join(", ") || null),
    bytesPerSecond: state.bytesPerSecond ?? null,
    until: state.untilNs === undefined ? null : formatTimestamp(state.untilNs),
    interface: state.interfaceName ?? null,
    isSlowLink: state.isSlowLink,
  };
}

async function describeStorage({ storageRoot, forecast }: SnapshotContext): Promise<StatusDocument["storage"]> {
  const isPresent = storageRoot.current() !== undefined;
  const disk = isPresent ? await measureDisk(storageRoot.path) : undefined;
  const scan = storageRoot.lastScan();
  return {
    root: storageRoot.path,
    isPresent,
    totalBytes: disk?.totalBytes ?? null,
    usedBytes: disk?.usedBytes ?? null,
    freeBytes: disk?.freeBytes ?? null,
    fullInSeconds: forecast.secondsUntilFull() ?? null,
    lastScanAt: scan ? formatTimestamp(scan.endedNs) : null,
    lastScanMs: scan ? Math.round(scan.tookMs) : null,
  };
}
