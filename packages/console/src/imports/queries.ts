import {
  type EdgeFile,
  edgeFiles,
  importQueue,
  type PendingImport,
  pendingImports,
  type QueuedImport,
} from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { type Query, useQuery } from "../api/use-query.ts";
import { choiceParam, textParam } from "../url/params.ts";

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
  readonly failed: Query<PendingImport[]>;
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
  const failed = useQuery(pendingImports.errors, newest, options("failed"));
  const unreadable = useQuery(edgeFiles.list, filter, options("unreadable"));
  const underWay = processing.data?.filter(({ status }) => status !== "error");
  useEffect(() => {
    setMoves(isMoving(queue.data ?? [], underWay ?? []));
  }, [queue.data, processing.data]);
  return { queue, processing: { ...processing, data: underWay }, failed, unreadable };
}

/** Returns `12`, or `200+` where there are more than are asked for. */
export function countText({ data }: Query<readonly unknown[]>): string | undefined {
  if (data === undefined) return undefined;
  return data.length < SHOWN ? String(data.length) : `${SHOWN}+`;
}

const SOON: ReadonlySet<string> = new Set(["BehindOthers", "AgentToStart"]);

/** Returns whether anything is on its way or about to be, so that it is worth asking every few seconds. */
function isMoving(queue: readonly QueuedImport[], processing: readonly unknown[]): boolean {
  if (processing.length > 0) return true;
  return queue.some(({ state, waitsFor }) => state === "uploading" || (waitsFor && SOON.has(waitsFor.code)));
}
