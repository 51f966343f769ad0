import { ApiFailure } from "@downlink/client";
import { api, type CallInput, DeletionReason, edgeLimits, type Output } from "@downlink/protocol";
import type { ReportState } from "../cloud/report-state.ts";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { type GoneBecause, type InventoryStep, lifeOf } from "../inventory/tracked-file.ts";
import { type Bell, pause } from "../loops/bell.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";
import type { AutoImport } from "./auto-import.ts";
import { beginListing, createListingBarrier, type Listing } from "./listing.ts";
import type { DeviceNaming } from "./name-device.ts";
import { planEnds } from "./plan-ends.ts";
import { planSchemas, planUpserts, type ReportLimits, settleBatch } from "./plan-report.ts";

export interface ReportContext {
  readonly session: CloudSession;
  readonly inventory: Inventory;
  readonly board: WorkBoard;
  readonly problems: ProblemBoard;
  readonly log: Log;
  readonly reportBell: Bell;
  /** To be rung when files have become known to the cloud. */
  readonly workBell: Bell;
  /** Whether a scan was completed since the start and the root is there. */
  readonly hasScanned: () => boolean;
  /** Whether what is on every card of the store is known; while it is not, absence from a listing says nothing. */
  readonly knowsAllCards: () => boolean;
  readonly clock: Clock;
  readonly nameDevice: DeviceNaming;
  readonly autoImport: AutoImport;
  readonly facts: Pick<StateFacts, "areEndsUnknown" | "noteEndsKnown">;
}

/** How often the cloud is asked again about files that belong to nobody: somebody may have made their device. */
const ASK_AGAIN_MS = 600_000;
/** Changes come in groups; one report is enough for them. */
const GATHER_MS = 200;

/** Reports to the control plane, until aborted, what it does not know yet. */
export async function runReports(ctx: ReportContext, state: ReportState, signal: AbortSignal): Promise<void> {
  const { session, reportBell } = ctx;
  const reporter = new Reporter(ctx, state);
  const reportOrRest = async () => {
    if (await reporter.step(signal)) return;
    await reportBell.wait(signal, reporter.restMs());
    await pause(GATHER_MS, signal);
  };
  await repeatWithRetries(reportOrRest, { session, signal });
}

type Report = Omit<CallInput<typeof api.edge.report>, "sequence">;

class Reporter {
  readonly #ctx: ReportContext;
  readonly #state: ReportState;
  readonly #barrier = createListingBarrier();
  readonly #unknownSchemas = new Set<string>();
  /** Version and revision of items that the cloud refuses whatever else is in the report. */
  readonly #refused = new Set<string>();
  readonly #askAgain = new Set<string>();
  #askAgainMs = 0;
  #hasUnassigned = false;
  #listing: Listing | undefined;
  #listingHello = 0;
  /** All was told that is known, and the cloud was not told that this is all. */
  #isLeftOpen = false;
  #maxItems: number = edgeLimits.itemsPerReport;

  constructor(ctx: ReportContext, state: ReportState) {
    this.#ctx = ctx;
    this.#state = state;
  }

  /** Sends one report; false when there is nothing to send now. */
  async step(signal: AbortSignal): Promise<boolean> {
    const { inventory, hasScanned } = this.#ctx;
    if (this.#state.needsListing === undefined) return false;
    if (this.#isLeftOpen && this.#ctx.knowsAllCards()) [this.#isLeftOpen, this.#state.needsListing] = [false, true];
    await this.#ctx.autoImport.reportAgain();
    this.#forgetRefused();
    if (this.#unknownSchemas.size > 0) return await this.#sendSchemas(signal);
    if (!this.#state.needsListing) return await this.#sendChanges(signal);
    if (!this.#barrier.isOpen(inventory, hasScanned())) return false;
    if (this.#listingHello !== this.#state.hellos) this.#listing = undefined;
    this.#listingHello = this.#state.hellos;
    this.#listing ??= beginListing(inventory);
    await this.#sendListed(this.#listing, signal);
    return true;
  }

  async #sendSchemas(signal: AbortSignal): Promise<true> {
    const { schemas, covered } = planSchemas(this.#ctx.inventory, this.#unknownSchemas);
    if (schemas.length > 0) await this.#send({ upserts: [], schemas }, signal);
    for (const sha256 of covered) this.#unknownSchemas.delete(sha256);
    return true;
  }

  async #sendListed(listing: Listing, signal: AbortSignal): Promise<void> {
    const { inventory, facts } = this.#ctx;
    const rest = listing.versionIds.slice(listing.done, listing.done + this.#maxItems);
    const batch = planUpserts(inventory, rest.filter(this.#isAccepted), this.#limits());
    const isWhole = batch.covered === rest.filter(this.#isAccepted).length;
    const done = isWhole ? listing.done + rest.length : listing.done + batch.covered;
    const isThrough = done === listing.versionIds.length;
    const isLast = isThrough && this.#ctx.knowsAllCards();
    const named = listing.named + batch.upserts.length;
    const tail = { id: listing.id, isLast, count: isLast ? named : undefined };
    const told = batch.upserts.flatMap(({ versionId }) => inventory.version(versionId) ?? []);
    const answer = await this.#sendItems({ upserts: batch.upserts, listing: tail }, signal);
    if (!answer) return;
    listing.done = done;
    listing.named = named;
    const isRejected = isLast && answer.isListingComplete === false;
    const forgotten = isLast && !isRejected ? listing.absent : [];
    const ends = planEnds(inventory, told, answer);
    inventory.change([
      ...settleBatch(batch, answer.unassigned),
      ...ends,
      ...stepsOfStored(inventory, answer),
      ...forgotten.map(forget),
    ]);
    if (isThrough) this.#listing = undefined;
    if (isThrough) this.#isLeftOpen = !isLast;
    if (isThrough && !isRejected && this.#listingHello === this.#state.hellos) {
      this.#state.needsListing = false;
      if (facts.areEndsUnknown()) facts.noteEndsKnown();
    }
    this.#ctx.workBell.ring();
  }

  async #sendChanges(signal: AbortSignal): Promise<boolean> {
    const { inventory, board } = this.#ctx;
    const due = new Set([...inventory.due(), ...this.#unassigned()].filter(this.#isAccepted));
    const batch = planUpserts(inventory, due, this.#limits());
    const { upserts } = batch;
    const gone = [...inventory.removals().keys()].filter(this.#mayRemove).slice(0, edgeLimits.itemsPerReport);
    const acknowledgements = board.unacknowledged().slice(0, edgeLimits.itemsPerReport);
    if (upserts.length + gone.length + acknowledgements.length === 0) return false;
    const answer = await this.#sendItems({ upserts, ...splitByCause(inventory, gone), acknowledgements }, signal);
    if (!answer) return true;
    inventory.change([...settleBatch(batch, answer.unassigned), ...gone.map(forget)]);
    for (const { versionId } of upserts) this.#askAgain.delete(versionId);
    board.acknowledged(acknowledgements);
    this.#ctx.workBell.ring();
    return true;
  }

  /** Until the time to ask again about files that belong to nobody, where there are any. */
  restMs(): number | undefined {
    return this.#hasUnassigned ? Math.max(1, this.#askAgainMs - this.#ctx.clock.monotonicMs()) : undefined;
  }

  /** Those to ask about again now; once each time. */
  #unassigned(): Iterable<string> {
    const { inventory, clock } = this.#ctx;
    if (clock.monotonicMs() < this.#askAgainMs) return this.#askAgain;
    this.#askAgainMs = clock.monotonicMs() + ASK_AGAIN_MS;
    this.#askAgain.clear();
    for (const file of inventory.files()) if (lifeOf(file) === "unassigned") this.#askAgain.add(file.versionId);
    this.#hasUnassigned = this.#askAgain.size > 0;
    return this.#askAgain;
  }

  #limits(): ReportLimits {
    const { nameDevice, autoImport } = this.#ctx;
    return { maxItems: this.#maxItems, nameDevice, wantsImport: autoImport.matches };
  }

  /** A request for the version is failed first, with its own reason. */
  readonly #mayRemove = (versionId: string): boolean => {
    const request = this.#ctx.board.byVersion().get(versionId);
    return request?.stage !== "deliver" || this.#ctx.board.isClosed(request.requestId);
  };

  readonly #isAccepted = (versionId: string): boolean => !this.#refused.has(this.#revisionKey(versionId));

  #revisionKey(versionId: string): string {
    return `${versionId} ${this.#ctx.inventory.version(versionId)?.revision}`;
  }

  /** Undefined when the cloud refused the content: the next try sends less of it, until the one bad item is found. */
  async #sendItems(report: Report, signal: AbortSignal) {
    try {
      const answer = await this.#send(report, signal);
      this.#maxItems = Math.min(edgeLimits.itemsPerReport, this.#maxItems * 2);
      return answer;
    } catch (failure) {
      const isContent =
        failure instanceof ApiFailure && failure.code !== undefined && [400, 413].includes(failure.status);
      if (!isContent || report.upserts.length === 0) throw failure;
      this.#narrowDown(report, failure);
      return undefined;
    }
  }

  #forgetRefused(): void {
    for (const key of this.#refused) if (key !== this.#revisionKey(key.split(" ")[0]!)) this.#refused.delete(key);
    if (this.#refused.size === 0) this.#ctx.problems.clear("FileRefused");
  }

  #narrowDown({ upserts }: Report, failure: ApiFailure): void {
    this.#maxItems = Math.max(1, Math.floor(upserts.length / 2));
    const [only, ...others] = upserts;
    if (!only || others.length > 0) return;
    this.#refused.add(this.#revisionKey(only.versionId));
    this.#ctx.problems.raise("FileRefused", `${only.path}: ${failure.message}`);
    this.#ctx.log.error({ path: only.path, err: failure }, "the control plane refuses the report of a file");
  }

  async #send(report: Report, signal: AbortSignal) {
    this.#state.sequence += 1;
    const { sequence } = this.#state;
    const answer = await this.#ctx.session.call(api.edge.report, { ...report, sequence }, { signal });
    for (const sha256 of answer.unknownSchemas) this.#unknownSchemas.add(sha256);
    if (answer.unassigned?.length) this.#hasUnassigned = true;
    this.#ctx.log.debug({ upserts: report.upserts.length, removals: report.removals?.length }, "reported");
    return answer;
  }
}

/** What is known to be stored of the files of an agent that lost its state; not that it is there still. */
function stepsOfStored(
  { version }: Inventory,
  { importedContents = [] }: Output<typeof api.edge.report>,
): InventoryStep[] {
  return importedContents.flatMap(({ versionId, sha256 }): InventoryStep[] => {
    const of = version(versionId)?.identity;
    return of ? [{ do: "noteHash", versionId, sha256, of, isProof: false }] : [];
  });
}

function forget(versionId: string): InventoryStep {
  return { do: "forgetRemoval", versionId };
}

/** What we deleted ourselves is told with the rule that asked for it. */
function splitByCause({ removals }: Inventory, versionIds: readonly string[]): Pick<Report, "removals" | "deletions"> {
  const told = versionIds.map((versionId) => ({ versionId, because: removals().get(versionId)!.because }));
  return {
    removals: told.filter(({ because }) => !isOurs(because)).map(({ versionId }) => versionId),
    deletions: told.flatMap(({ versionId, because }) => (isOurs(because) ? [{ versionId, because }] : [])),
  };
}

function isOurs(because: GoneBecause): because is DeletionReason {
  return DeletionReason.options.some((reason) => reason === because);
}
