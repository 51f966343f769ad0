import { ApiCallError, type Transport } from "@downlink/client";
import type { WantedImport } from "@downlink/protocol";
import type { Tracing } from "@downlink/tracing";
import type { Dispatcher } from "undici";
import type { CloudSession } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { StorageRoot } from "../files/storage-root.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import { classifyFailure } from "./classify-failure.ts";
import { createHopelessImports, type HopelessImports } from "./hopeless-imports.ts";
import { planUploads } from "./plan-uploads.ts";
import { planWork } from "./plan-work.ts";
import { type HashContext, rememberHashes } from "./remember-hashes.ts";
import { createSites, type Sites } from "./sites.ts";
import type { Throttle } from "./throttle.ts";
import { createTransferMeter, type Transfer, type TransferMeter } from "./transfers.ts";
import { uploadFile } from "./upload-file.ts";
import { createUploadMemories, type Retry, type UploadMemories } from "./upload-memories.ts";
import { createUploadTroubles, type UploadTroubles } from "./upload-troubles.ts";

export interface UploadContext extends HashContext {
  readonly session: CloudSession;
  readonly dispatcher: Dispatcher;
  /** By which self-hosted sites are called. */
  readonly transport: Transport;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly log: Log;
  readonly problems: ProblemBoard;
  readonly inventory: Inventory;
  readonly board: WorkBoard;
  readonly storageRoot: StorageRoot;
  readonly throttle: Throttle;
  /** Whether the cloud knows all that is here. */
  readonly isListed: () => boolean;
  /** Whether the file is being checked, because it may be another version by now. */
  readonly isInRecheck: (versionId: string) => boolean;
  readonly workSignal: WakeSignal;
  readonly reportSignal: WakeSignal;
  readonly scanSignal: WakeSignal;
}

export interface Uploads {
  run(signal: AbortSignal): Promise<void>;
  transfers(): Transfer[];
  /** The uploads that wait after a failed try, soonest first. */
  retries(): Retry[];
  /** Tries an upload that waits after a failed try at once. Returns whether it waited. */
  retryNow(versionId: string): boolean;
  counters(): UploadCounters;
}

/** The counts since the start. */
export interface UploadCounters {
  /** The bytes of parts that became durable. */
  readonly uploadedBytes: number;
  readonly uploadedFiles: number;
  readonly failedTries: number;
}

/** A disk may fail for a moment; after this many tries the file counts as unreadable. */
const MAX_READ_FAILURES = 3;

export function createUploads(ctx: UploadContext): Uploads {
  const memories = createUploadMemories(ctx.clock);
  const troubles = createUploadTroubles(memories, ctx.problems);
  const queue = new UploadQueue(ctx, memories, troubles);
  return {
    run: (signal) => queue.run(signal),
    transfers: () => queue.transfers(),
    retries: memories.retries,
    retryNow(versionId) {
      const request = ctx.board.byVersion().get(versionId);
      const hasRested = request !== undefined && memories.wake(request.requestId);
      if (hasRested) ctx.workSignal.notify();
      return hasRested;
    },
    counters: () => ({ ...queue.counters, failedTries: troubles.failedTries() }),
  };
}

interface Running {
  readonly versionId: string;
  readonly stop: AbortController;
  readonly meter: TransferMeter;
  readonly ended: Promise<void>;
}

class UploadQueue {
  readonly #ctx: UploadContext;
  readonly #running = new Map<string, Running>();
  readonly #memories: UploadMemories;
  readonly #troubles: UploadTroubles;
  readonly #endings: HopelessImports;
  readonly #sites: Sites;
  readonly counters = { uploadedBytes: 0, uploadedFiles: 0 };
  #fault: unknown;

  constructor(ctx: UploadContext, memories: UploadMemories, troubles: UploadTroubles) {
    this.#ctx = ctx;
    this.#memories = memories;
    this.#troubles = troubles;
    this.#sites = createSites(ctx);
    this.#endings = createHopelessImports({ ...ctx, memories, troubles, onFault: (fault) => this.#noteFault(fault) });
  }

  transfers(): Transfer[] {
    return Array.from(this.#running.values(), ({ meter }) => meter.snapshot());
  }

  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        this.#turn(signal);
        await this.#ctx.workSignal.wait(signal, this.#waitMs());
        if (this.#fault !== undefined) throw this.#fault;
      }
    } finally {
      for (const { stop } of this.#running.values()) stop.abort();
      await Promise.allSettled(Array.from(this.#running.values(), ({ ended }) => ended));
      this.#fault = undefined;
    }
  }

  #turn(signal: AbortSignal): void {
    const { board, inventory, reportSignal, problems } = this.#ctx;
    this.#forgetOld();
    const { steps, missing } = planWork(board, inventory);
    inventory.change(steps);
    if (board.unacknowledged().length > 0) reportSignal.notify();
    if (board.settings()?.enabled) problems.clear("DeviceDisabled");
    else if (board.settings()) problems.raise("DeviceDisabled", "uploads wait until it is enabled");
    const { start, abort } = planUploads({
      deliverable: this.#deliverable(),
      running: this.#running,
      isResting: (requestId) => this.#memories.isResting(requestId) || this.#sites.isResting(requestId),
      concurrency: this.#ctx.throttle.concurrency(),
    });
    for (const requestId of abort) this.#running.get(requestId)?.stop.abort();
    for (const request of start) this.#start(request, signal);
    for (const request of missing) this.#endings.giveUpGone(request, signal);
  }

  #deliverable(): WantedImport[] {
    const { board, inventory, storageRoot, throttle, isInRecheck } = this.#ctx;
    if (!board.settings()?.enabled || !storageRoot.current() || throttle.isPaused()) return [];
    return [...board.byVersion().values()].filter(
      ({ stage, requestId, versionId }) =>
        stage === "deliver" &&
        !board.isClosed({ requestId, versionId }) &&
        (inventory.version(versionId)?.state ?? "away") !== "away" &&
        !isInRecheck(versionId),
    );
  }

  #start(request: WantedImport, signal: AbortSignal): void {
    const { inventory, clock, storageRoot } = this.#ctx;
    const { requestId, versionId, recordingId } = request;
    inventory.change([{ do: "event", versionId, event: "uploadStarted" }]);
    const [file, storage] = [inventory.version(versionId), storageRoot.current()];
    if (!file || !storage) return;
    const stop = new AbortController();
    const meter = createTransferMeter({ recordingId, path: file.path, sizeBytes: file.identity.sizeBytes }, clock);
    const upload = uploadFile({
      ...{ session: this.#ctx.session, dispatcher: this.#ctx.dispatcher, throttle: this.#ctx.throttle },
      ...{ transport: this.#ctx.transport, tracing: this.#ctx.tracing, sites: this.#sites },
      ...{ storage, requestId, file, meter },
      signal: AbortSignal.any([signal, stop.signal]),
      ...rememberHashes({ ...this.#ctx, memories: this.#memories }, { requestId, file, storage }),
      onPart: (sentBytes) => {
        this.counters.uploadedBytes += sentBytes;
        this.#troubles.notePart(requestId);
      },
      onPartFailed: (failure) => this.#troubles.notePartFailure(requestId, file.path, failure),
    });
    const ended = upload
      .then(
        () => this.#delivered(request, file),
        (failure: unknown) => this.#failed({ request, file, signal, stop }, failure),
      )
      .catch((fault: unknown) => this.#noteFault(fault))
      .finally(() => {
        this.#running.delete(requestId);
        this.#ctx.workSignal.notify();
      });
    this.#running.set(requestId, { versionId, stop, meter, ended });
  }

  #delivered({ requestId, versionId }: WantedImport, { path, identity }: TrackedFile): void {
    this.#sites.noteEnd(requestId, undefined);
    this.#ctx.inventory.change([{ do: "event", versionId, event: "delivered" }]);
    this.#ctx.board.close({ requestId, versionId });
    this.#memories.forget(requestId);
    this.#troubles.show();
    this.counters.uploadedFiles += 1;
    this.#ctx.log.info({ path, sizeBytes: identity.sizeBytes }, "uploaded");
  }

  async #failed(
    {
      request,
      file,
      signal,
      stop,
    }: { request: WantedImport; file: TrackedFile; signal: AbortSignal; stop: AbortController },
    failure: unknown,
  ): Promise<void> {
    const { inventory, board, scanSignal, log } = this.#ctx;
    const { requestId, versionId } = request;
    inventory.change([{ do: "event", versionId, event: "uploadStopped" }]);
    const restMs = this.#sites.noteEnd(requestId, failure);
    if (signal.aborted || stop.signal.aborted) return;
    const kind = classifyFailure(failure);
    const reason = failure instanceof Error ? failure.message : String(failure);
    log.warn({ path: file.path, kind, reason }, "an upload failed");
    if (restMs !== undefined)
      return this.#memories.restFor(requestId, restMs, { path: file.path, error: (failure as Error).message });
    this.#troubles.noteFailure(requestId, failure, file.path);
    if (kind === "cancelled") board.refused(request);
    // The bytes do not match their hash, so they are hashed again next time.
    if (failure instanceof ApiCallError && failure.code === "DigestMismatch") this.#memories.forgetHashes(requestId);
    if (kind === "rewritten") inventory.change([{ do: "event", versionId, event: "changed" }]);
    if (kind === "rewritten" || kind === "moved") scanSignal.notify();
    if (kind !== "unreadable") return;
    if (this.#memories.noteReadFailure(requestId) >= MAX_READ_FAILURES)
      await this.#endings.giveUp(request, { code: "FileUnreadable", text: String(failure) }, signal);
  }

  /** Ends the loop at its next turn; the supervision starts it again then. */
  #noteFault(fault: unknown): void {
    this.#fault ??= fault;
  }

  /** The time until a request has rested, or the timetable changes. */
  #waitMs(): number | undefined {
    const waits = [this.#memories.restMs(), this.#ctx.throttle.msUntilChange()].filter((ms) => ms !== undefined);
    return waits.length === 0 ? undefined : Math.min(...waits);
  }

  #forgetOld(): void {
    const wanted = new Set(this.#ctx.board.wanted().map(({ requestId }) => requestId));
    this.#memories.keepOnly(wanted);
    this.#sites.keepOnly(wanted);
    this.#troubles.show();
  }
}
