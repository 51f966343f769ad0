import { ApiFailure, NetworkFailure } from "@downlink/client";
import { api, edgeLimits } from "@downlink/protocol";
import { pause } from "./bell.ts";
import type { ServerClock } from "./cloud/server-clock.ts";
import type { CloudSession } from "./cloud/session.ts";
import type { StorageRoot } from "./files/storage-root.ts";
import type { Inventory } from "./inventory/inventory.ts";
import type { ProblemBoard } from "./problems.ts";
import { measureDisk } from "./status/snapshot.ts";

export interface HeartbeatContext {
  readonly session: CloudSession;
  readonly inventory: Inventory;
  readonly problems: ProblemBoard;
  readonly storageRoot: StorageRoot;
  readonly serverClock: ServerClock;
}

const MAX_PROBLEMS = 20;

/** Tells the cloud how the agent fares, until aborted. What is lost is not repeated: the next one says more. */
export async function runHeartbeat(ctx: HeartbeatContext, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await sendHeartbeat(ctx, signal);
    } catch (failure) {
      if (signal.aborted) return;
      if (!(failure instanceof ApiFailure || failure instanceof NetworkFailure)) throw failure;
    }
    await pause(edgeLimits.heartbeatSeconds * 1000, signal);
  }
}

async function sendHeartbeat(
  { session, inventory, problems, storageRoot, serverClock }: HeartbeatContext,
  signal: AbortSignal,
): Promise<void> {
  const disk = storageRoot.current() ? await measureDisk(storageRoot.path) : undefined;
  const told = problems.list().slice(0, MAX_PROBLEMS);
  const status = {
    files: { ...inventory.countByState() },
    disk,
    problems: told.map(({ code, detail, sinceNs }) => ({ code, text: detail.slice(0, 1000), since: sinceNs })),
  };
  const { serverTime } = await session.call(api.edge.status, status, { signal });
  serverClock.note(serverTime);
}
