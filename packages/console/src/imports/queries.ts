import {
  type EdgeFile,
  edgeFiles,
  importQueue,
  type PendingImport,
  pendingImports,
  type QueuedImport,
  type Recording,
  type RecordingSummary,
  recordings,
} from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { type Query, useQuery } from "../api/use-query.ts";
import { formatCount, formatMany } from "../parts/bytes.ts";
import { choiceParam, textParam } from "../url/params.ts";
import { failedUploads } from "./failed-import.ts";

const TABS = ["queue", "processing", "failed", "unreadable", "done"] as const;
type ImportsTab = (typeof TABS)[number];

/** The parameters in the address of the page of imports. `reason` is the code of what an import waits for, or why it failed. */
export const importsParams = {
  tab: choiceParam(TABS, "queue"),
  device: textParam,
  reason: textParam,
};

/** So many of each are shown; the counts beside the tabs go no further. */
export const SHOWN = 200;
const MOVING_MS = 3000;
const RESTING_MS = 15_000;
const ASIDE_MS = 60_000;

export interface Imports {
  readonly queue: Query<QueuedImport[]>;
  readonly processing: Query<PendingImport[]>;
  /** The recordings whose import failed, the newest first. */
  readonly failed: Query<Recording[]>;
  /** How many there are: the same sum as on the other pages. */
  readonly failedSum: Query<RecordingSummary>;
  /** The requests that failed, also those of files that became no recording. */
  readonly errors: Query<PendingImport[]>;
  readonly unreadable: Query<EdgeFile[]>;
}

/** Asks for the contents of the tabs: often for the open tab, as long as anything moves; of the others for their counts. */
export function useImports(projectId: string, { tab, device }: { tab: ImportsTab; device: string }): Imports {
  const [moves, setMoves] = useState(true);
  const filter = { projectId, ...(device && { deviceName: device }), limit: SHOWN };
  const newest = { ...filter, sortBy: "updatedAt", sortOrder: "desc" } as const;
  const openMs = moves ? MOVING_MS : RESTING_MS;
  const options = (...tabs: ImportsTab[]) => ({ pollMs: tabs.includes(tab) ? openMs : ASIDE_MS });
  const queue = useQuery(importQueue.list, filter, options("queue", "processing"));
  const processing = useQuery(pendingImports.list, newest, options("queue", "processing"));
  const errors = useQuery(pendingImports.errors, newest, options("failed"));
  const ofFailed = { projectId, ...(device && { deviceName: device }), importStatus: ["failed" as const] };
  const failedSum = useQuery(recordings.summarize, ofFailed, options("failed"));
  const failed = useQuery(
    recordings.list,
    { ...ofFailed, sortBy: "createdAt", sortOrder: "desc", limit: SHOWN },
    { ...options("failed"), isEnabled: tab === "failed" },
  );
  const unreadable = useQuery(edgeFiles.list, filter, options("unreadable"));
  const underWay = processing.data?.filter(({ status }) => status !== "error");
  useEffect(() => {
    setMoves(isMoving(queue.data ?? [], underWay ?? []));
  }, [queue.data, processing.data]);
  return { queue, processing: { ...processing, data: underWay }, failed, failedSum, errors, unreadable };
}

/** Returns `12`, or `200+` where there are more than are asked for. */
export function countText({ data }: Query<readonly unknown[]>): string | undefined {
  if (data === undefined) return undefined;
  return data.length < SHOWN ? String(data.length) : `${SHOWN}+`;
}

/** Returns `2`, or `2 · 1 upload` where files were sent that became no recording. */
export function failedText({ failedSum, errors }: Pick<Imports, "failedSum" | "errors">): string | undefined {
  if (failedSum.data === undefined) return undefined;
  const uploads = failedUploads(errors.data ?? []).length;
  const count = `${formatCount(failedSum.data.count)}${failedSum.data.isCapped ? "+" : ""}`;
  return uploads === 0 ? count : `${count} · ${formatMany(uploads, "upload")}`;
}

const SOON: ReadonlySet<string> = new Set(["BehindOthers", "AgentToStart"]);

/** Returns whether anything is on its way or about to be, so that it is worth asking every few seconds. */
function isMoving(queue: readonly QueuedImport[], processing: readonly unknown[]): boolean {
  if (processing.length > 0) return true;
  return queue.some(({ state, waitsFor }) => state === "uploading" || (waitsFor && SOON.has(waitsFor.code)));
}
