import { ApiCallError } from "@downlink/client";
import { api, type Output } from "@downlink/protocol";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { Log } from "../diagnostics/log.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";

type Answers = Output<typeof api.edge.requestImports>["answers"];

/** An import status; `unknown`: the control plane has no such file; `unsupported`: it is too old for such requests. */
export type LocalRequestAnswer = NonNullable<Answers[number]["importStatus"]> | "unknown" | "unsupported";

export interface LocalRequestContext {
  readonly session: CloudSession;
  readonly inventory: Inventory;
  readonly log: Log;
  /** Is notified when a user on the device requests an import. */
  readonly localRequestSignal: WakeSignal;
  /** To be notified when a file is to be reported again. */
  readonly reportSignal: WakeSignal;
}

/** Imports that users on the device request. They are kept durably until the control plane has received them. */
export interface LocalRequests {
  run(signal: AbortSignal): Promise<void>;
  /** The requests are durable when this returns; the answer holds what the control plane said within the time. */
  add(versionIds: readonly string[], timeoutMs: number): Promise<ReadonlyMap<string, LocalRequestAnswer>>;
}

/** Each request takes the control plane some statements within one transaction, for which the agent's other calls wait. */
const FILES_AT_ONCE = 100;
/** How soon to look again at requests for files that were not reported to the control plane yet. */
const LOOK_AGAIN_MS = 1000;

export function createLocalRequests(ctx: LocalRequestContext): LocalRequests {
  const waiting = createWaitingCalls();
  return {
    async run(signal) {
      const requestOrRest = () => takeTurn(ctx, waiting.resolve, signal);
      await repeatWithRetries(requestOrRest, { session: ctx.session, signal });
    },
    async add(versionIds, timeoutMs) {
      ctx.inventory.change(versionIds.map((versionId) => ({ do: "requestImport", versionId })));
      if (versionIds.length === 0) return new Map();
      const answers = waiting.wait(versionIds, timeoutMs);
      ctx.localRequestSignal.notify();
      return await answers;
    },
  };
}

/** Hands an answer to every call that waits for it. */
type ResolveAnswer = (versionId: string, answer: LocalRequestAnswer) => void;

interface WaitingCall {
  /** The versions without an answer. */
  readonly versionIds: Set<string>;
  readonly answers: Map<string, LocalRequestAnswer>;
  readonly finish: () => void;
}

/** Keeps the calls of people on the device that wait until the control plane has answered. */
function createWaitingCalls() {
  const calls = new Set<WaitingCall>();
  const resolve: ResolveAnswer = (versionId, answer) => {
    for (const { versionIds, answers, finish } of calls) {
      if (!versionIds.delete(versionId)) continue;
      answers.set(versionId, answer);
      if (versionIds.size === 0) finish();
    }
  };
  return {
    resolve,
    async wait(versionIds: readonly string[], timeoutMs: number): Promise<ReadonlyMap<string, LocalRequestAnswer>> {
      const { promise, resolve: finish } = Promise.withResolvers<void>();
      const call = { versionIds: new Set(versionIds), answers: new Map(), finish };
      calls.add(call);
      const timer = setTimeout(finish, timeoutMs);
      await promise;
      clearTimeout(timer);
      calls.delete(call);
      return call.answers;
    },
  };
}

/** Sends what can be sent now, or waits until there may be something to send. */
async function takeTurn(ctx: LocalRequestContext, resolve: ResolveAnswer, signal: AbortSignal): Promise<void> {
  const { inventory, localRequestSignal } = ctx;
  const requested = inventory.localRequests();
  const isReported = (versionId: string) => inventory.version(versionId)?.reportedAs === "indexed";
  const sendable = requested.filter(isReported).slice(0, FILES_AT_ONCE);
  if (sendable.length > 0) await send(ctx, sendable, { resolve, signal });
  else await localRequestSignal.wait(signal, requested.length > 0 ? LOOK_AGAIN_MS : undefined);
}

async function send(
  ctx: LocalRequestContext,
  versionIds: readonly string[],
  { resolve, signal }: { resolve: ResolveAnswer; signal: AbortSignal },
): Promise<void> {
  try {
    const { answers } = await ctx.session.call(api.edge.requestImports, { versionIds: [...versionIds] }, { signal });
    settle(ctx, answers, resolve);
  } catch (failure) {
    const isUnsupported = !signal.aborted && failure instanceof ApiCallError && failure.code === "NotFound";
    if (!isUnsupported) throw failure;
    giveUp(ctx, versionIds, resolve);
  }
}

/** The records change first, because a person who got an answer may ask at once what is known of the file. */
function settle({ inventory, log, reportSignal }: LocalRequestContext, answers: Answers, resolve: ResolveAnswer): void {
  inventory.change(answers.flatMap(stepsOf));
  for (const { versionId, importStatus } of answers) resolve(versionId, importStatus ?? "unknown");
  log.info({ files: answers.length }, "imports were asked for on this device");
  reportSignal.notify();
}

/** A file that the control plane does not know is reported again; one that it has already is imported. */
function stepsOf({ versionId, importStatus }: Answers[number]): InventoryStep[] {
  const forget = { do: "forgetLocalRequest", versionId } as const;
  if (importStatus === undefined) return [forget, { do: "reportAgain", versionId }];
  return importStatus === "complete" ? [forget, { do: "event", versionId, event: "importDone" }] : [forget];
}

/** An older control plane has no such operation. */
function giveUp({ inventory, log }: LocalRequestContext, versionIds: readonly string[], resolve: ResolveAnswer): void {
  const outcome = {
    code: "AskedInVain",
    text: "Its import was asked for on this device, and the control plane is too old for requests from the device",
  };
  inventory.change(versionIds.map((versionId) => ({ do: "forgetLocalRequest", versionId, outcome })));
  for (const versionId of versionIds) resolve(versionId, "unsupported");
  log.warn({ files: versionIds.length }, "the control plane is too old to be asked for imports from the device");
}
