import type { ReportState } from "../cloud/report-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { InventoryStep } from "../inventory/tracked-file.ts";
import type { StateFacts } from "../state/state-facts.ts";
import { beginListing, createListingBarrier, type Listing } from "./listing.ts";
import { planEnds } from "./plan-ends.ts";
import { planUpserts, type ReportBatch, type ReportLimits, settleBatch } from "./plan-report.ts";
import type { ReportAnswer, ReportChannel } from "./report-channel.ts";

export interface ListingContext {
  readonly inventory: Inventory;
  readonly channel: ReportChannel;
  readonly state: ReportState;
  readonly limits: () => ReportLimits;
  /** Whether a scan was completed since the start and the root is there. */
  readonly hasScanned: () => boolean;
  /** Whether what is on every card of the store is known; while it is not, absence from a listing says nothing. */
  readonly knowsAllCards: () => boolean;
  readonly facts: Pick<StateFacts, "areEndsUnknown" | "noteEndsKnown">;
}

/** Lists all files for a cloud that does not know what is here. */
export interface ListingSender {
  /** Sends the next batch; false while it is too early for a listing. Undefined where the cloud refused the content. */
  sendNext(signal: AbortSignal): Promise<ReportAnswer | undefined | false>;
  /** A listing that could not be the whole, because cards were unknown, is due again once all are known. */
  repeatWhenComplete(): void;
}

export function createListingSender(ctx: ListingContext): ListingSender {
  const { state, inventory, knowsAllCards } = ctx;
  const barrier = createListingBarrier();
  let listing: Listing | undefined;
  let listingHello = 0;
  return {
    async sendNext(signal) {
      if (!barrier.isOpen(inventory, ctx.hasScanned())) return false;
      if (listingHello !== state.hellos) listing = undefined; // No listing survives a hello.
      listingHello = state.hellos;
      listing ??= beginListing(inventory);
      const sent = await sendBatch(ctx, listing, signal);
      if (!sent?.isThrough) return sent?.answer;
      listing = undefined;
      state.isListingOpen = !sent.isLast;
      if (!sent.isRejected && listingHello === state.hellos) endListing(ctx);
      return sent.answer;
    },
    repeatWhenComplete() {
      if (state.isListingOpen && knowsAllCards()) state.needsListing = true;
    },
  };
}

interface SentBatch {
  readonly answer: ReportAnswer;
  /** All files were named. */
  readonly isThrough: boolean;
  /** The batch said that this is all. */
  readonly isLast: boolean;
  /** The cloud did not receive all of it. */
  readonly isRejected: boolean;
}

async function sendBatch(ctx: ListingContext, listing: Listing, signal: AbortSignal): Promise<SentBatch | undefined> {
  const { inventory, channel } = ctx;
  const { batch, done } = nextBatch(ctx, listing);
  const isThrough = done === listing.versionIds.length;
  const isLast = isThrough && ctx.knowsAllCards();
  const named = listing.named + batch.upserts.length;
  const reported = batch.upserts.flatMap(({ versionId }) => inventory.version(versionId) ?? []);
  const tail = { id: listing.id, isLast, count: isLast ? named : undefined };
  const answer = await channel.sendItems({ upserts: batch.upserts, listing: tail }, signal);
  if (!answer) return undefined;
  Object.assign(listing, { done, named });
  const isRejected = isLast && answer.isListingComplete === false;
  inventory.change([
    ...settleBatch(batch, answer.unassigned),
    ...planEnds(inventory, reported, answer),
    ...stepsOfStored(inventory, answer),
    ...(isLast && !isRejected ? listing.absent.map(forgetRemoval) : []),
  ]);
  return { answer, isThrough, isLast, isRejected };
}

/** Items that the cloud refuses are passed over; `done` counts them as well. */
function nextBatch(
  { inventory, channel, limits }: ListingContext,
  { versionIds, done }: Listing,
): { batch: ReportBatch; done: number } {
  const rest = versionIds.slice(done, done + channel.maxItems());
  const accepted = rest.filter(channel.isAccepted);
  const batch = planUpserts(inventory, accepted, limits());
  const isWhole = batch.covered === accepted.length;
  return { batch, done: done + (isWhole ? rest.length : batch.covered) };
}

function endListing({ state, facts }: ListingContext): void {
  state.needsListing = false;
  if (facts.areEndsUnknown()) facts.noteEndsKnown();
}

/**
 * Returns the steps for files that the cloud stored, of an agent that lost its state; they are no proof that the files are stored still.
 */
function stepsOfStored({ version }: Inventory, { importedContents = [] }: ReportAnswer): InventoryStep[] {
  return importedContents.flatMap(({ versionId, sha256 }): InventoryStep[] => {
    const of = version(versionId)?.identity;
    return of ? [{ do: "noteHash", versionId, sha256, of, isProof: false }] : [];
  });
}

export function forgetRemoval(versionId: string): InventoryStep {
  return { do: "forgetRemoval", versionId };
}
