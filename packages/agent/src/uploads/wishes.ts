import { ApiFailure, NetworkFailure } from "@downlink/client";
import { api, type Output } from "@downlink/protocol";
import type { CloudSession } from "../cloud/session.ts";
import type { Log } from "../diagnostics/log.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep } from "../inventory/tracked-file.ts";
import type { Bell } from "../loops/bell.ts";

type Answers = Output<typeof api.edge.requestImports>["answers"];

/** What the control plane made of a wish: an import status; `unknown`: no such file; `unsupported`: it is too old to be asked. */
export type WishAnswer = NonNullable<Answers[number]["importStatus"]> | "unknown" | "unsupported";

export interface WishContext {
  readonly session: CloudSession;
  readonly inventory: Inventory;
  readonly log: Log;
  /** Rings when somebody wishes for something. */
  readonly wishBell: Bell;
  /** To be rung when a file is to be told of anew. */
  readonly reportBell: Bell;
}

/** Imports that somebody on the device asks for: kept durably until the control plane has heard of them. */
export interface Wishes {
  run(signal: AbortSignal): Promise<void>;
  /** They are durable when this is called, and answered as far as that is possible within the time. */
  add(versionIds: readonly string[], timeoutMs: number): Promise<ReadonlyMap<string, WishAnswer>>;
}

/** Each takes the control plane some statements within one transaction, for which the agent's other calls wait. */
const FILES_AT_ONCE = 100;
/** How soon to look again at wishes for files that the control plane has not heard of. */
const LOOK_AGAIN_MS = 1000;

interface Waiting {
  readonly versionIds: Set<string>;
  readonly answers: Map<string, WishAnswer>;
  readonly finish: () => void;
}

export function createWishes(ctx: WishContext): Wishes {
  const waiting = new Set<Waiting>();
  const tell = (versionId: string, answer: WishAnswer) => {
    for (const { versionIds, answers, finish } of waiting) {
      if (!versionIds.delete(versionId)) continue;
      answers.set(versionId, answer);
      if (versionIds.size === 0) finish();
    }
  };
  return {
    run: (signal) => runWishes(ctx, tell, signal),
    async add(versionIds, timeoutMs) {
      ctx.inventory.change(versionIds.map((versionId) => ({ do: "wish", versionId })));
      const { promise, resolve } = Promise.withResolvers<void>();
      const entry: Waiting = { versionIds: new Set(versionIds), answers: new Map(), finish: resolve };
      if (entry.versionIds.size === 0) return entry.answers;
      waiting.add(entry);
      const timer = setTimeout(resolve, timeoutMs);
      ctx.wishBell.ring();
      await promise;
      clearTimeout(timer);
      waiting.delete(entry);
      return entry.answers;
    },
  };
}

type Tell = (versionId: string, answer: WishAnswer) => void;

async function runWishes(ctx: WishContext, tell: Tell, signal: AbortSignal): Promise<void> {
  const { session, inventory, wishBell } = ctx;
  for (let attempt = 1; !signal.aborted; attempt++) {
    const wishes = inventory.wishes();
    const due = wishes.filter((versionId) => inventory.version(versionId)?.reportedAs === "indexed");
    if (due.length === 0) {
      await wishBell.wait(signal, wishes.length > 0 ? LOOK_AGAIN_MS : undefined);
      attempt = 0;
      continue;
    }
    const versionIds = due.slice(0, FILES_AT_ONCE);
    try {
      const { answers } = await session.call(api.edge.requestImports, { versionIds }, { signal });
      attempt = 0;
      settle(ctx, answers, tell);
    } catch (failure) {
      if (signal.aborted) return;
      if (!(failure instanceof ApiFailure || failure instanceof NetworkFailure)) throw failure;
      if (failure instanceof ApiFailure && failure.code === "NotFound") giveUp(ctx, versionIds, tell);
      else await session.waitToRetry(failure, attempt, signal);
    }
  }
}

function settle({ inventory, log, reportBell }: WishContext, answers: Answers, tell: Tell): void {
  const steps = answers.flatMap(({ versionId, importStatus }): InventoryStep[] => {
    const heard = { do: "forgetWish", versionId } as const;
    if (importStatus === undefined) return [heard, { do: "retell", versionId }];
    return importStatus === "complete" ? [heard, { do: "event", versionId, event: "importDone" }] : [heard];
  });
  inventory.change(steps);
  for (const { versionId, importStatus } of answers) tell(versionId, importStatus ?? "unknown");
  log.info({ files: answers.length }, "imports were asked for on this device");
  reportBell.ring();
}

/** An older control plane has no such operation. */
function giveUp({ inventory, log }: WishContext, versionIds: readonly string[], tell: Tell): void {
  const outcome = {
    code: "AskedInVain",
    text: "Its import was asked for on this device, and the control plane is too old to be asked from here",
  };
  inventory.change(versionIds.map((versionId) => ({ do: "forgetWish", versionId, outcome })));
  for (const versionId of versionIds) tell(versionId, "unsupported");
  log.warn({ files: versionIds.length }, "the control plane is too old to be asked for imports from the device");
}
