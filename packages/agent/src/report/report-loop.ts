import { DeletionReason, edgeLimits } from "@downlink/protocol";
import type { ReportState } from "../cloud/report-state.ts";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { GoneBecause } from "../inventory/tracked-file.ts";
import { pause, type WakeSignal } from "../loops/wake-signal.ts";
import type { Clock } from "../system/clock.ts";
import type { AutoImport } from "./auto-import.ts";
import type { DeviceNaming } from "./name-device.ts";
import { planSchemas, planUpserts, type ReportLimits, settleBatch } from "./plan-report.ts";
import { type ChannelContext, createReportChannel, type Report, type ReportChannel } from "./report-channel.ts";
import { createListingSender, forgetRemoval, type ListingContext } from "./send-listing.ts";
import { createUnassignedFiles, type UnassignedFiles } from "./unassigned-files.ts";

export interface ReportContext extends ChannelContext, Pick<ListingContext, "hasScanned" | "knowsAllCards" | "facts"> {
  readonly board: WorkBoard;
  readonly reportSignal: WakeSignal;
  /** To be notified when the cloud has learnt of files. */
  readonly workSignal: WakeSignal;
  readonly clock: Clock;
  readonly nameDevice: DeviceNaming;
  readonly autoImport: AutoImport;
}

/** Changes come in groups; one report is enough for them. */
const GATHER_MS = 200;

/** Reports to the control plane, until aborted, what it does not know yet. */
export async function runReports(ctx: ReportContext, state: ReportState, signal: AbortSignal): Promise<void> {
  const { session, reportSignal } = ctx;
  const reporter = createReporter(ctx, state);
  const reportOrRest = async () => {
    if (await reporter.sendNext(signal)) return;
    await reportSignal.wait(signal, reporter.restMs());
    await pause(GATHER_MS, signal);
  };
  await repeatWithRetries(reportOrRest, { session, signal });
}

interface Reporter {
  /** Sends one report; false when there is nothing to send now. */
  sendNext(signal: AbortSignal): Promise<boolean>;
  /** The time until something is due without a notification. */
  restMs(): number | undefined;
}

function createReporter(ctx: ReportContext, state: ReportState): Reporter {
  const { inventory, nameDevice, autoImport, workSignal } = ctx;
  const channel = createReportChannel(ctx, state);
  const unassigned = createUnassignedFiles(ctx);
  const limits = () => ({ maxItems: channel.maxItems(), nameDevice, wantsImport: autoImport.matches });
  const listings = createListingSender({ ...ctx, channel, state, limits });
  const sendItems = async (signal: AbortSignal) =>
    state.needsListing
      ? await listings.sendNext(signal)
      : await sendChanges({ ...ctx, channel, unassigned, limits }, signal);
  return {
    async sendNext(signal) {
      if (state.needsListing === undefined) return false;
      listings.repeatWhenComplete();
      await autoImport.reportAgain();
      channel.forgetChanged();
      if (channel.unknownSchemas.size > 0) return await sendSchemas(inventory, channel, signal);
      const answer = await sendItems(signal);
      if (!answer) return answer !== false;
      if (answer.unassigned?.length) unassigned.noteFound();
      workSignal.notify();
      return true;
    },
    restMs: unassigned.restMs,
  };
}

async function sendSchemas(inventory: Inventory, channel: ReportChannel, signal: AbortSignal): Promise<true> {
  const { schemas, covered } = planSchemas(inventory, channel.unknownSchemas);
  if (schemas.length > 0) await channel.send({ upserts: [], schemas }, signal);
  for (const sha256 of covered) channel.unknownSchemas.delete(sha256);
  return true;
}

type ChangesContext = ReportContext & {
  readonly channel: ReportChannel;
  readonly unassigned: UnassignedFiles;
  readonly limits: () => ReportLimits;
};

/** Sends the changes since the cloud knew all; false where nothing changed. */
async function sendChanges(ctx: ChangesContext, signal: AbortSignal) {
  const { inventory, board, channel, unassigned } = ctx;
  const due = new Set([...inventory.due(), ...unassigned.due()].filter(channel.isAccepted));
  const batch = planUpserts(inventory, due, ctx.limits());
  const { upserts } = batch;
  const removable = [...inventory.removals().keys()].filter((versionId) => mayReportGone(board, versionId));
  const gone = removable.slice(0, edgeLimits.itemsPerReport);
  const acknowledgements = board.unacknowledged().slice(0, edgeLimits.itemsPerReport);
  if (upserts.length + gone.length + acknowledgements.length === 0) return false;
  const answer = await channel.sendItems({ upserts, ...splitByCause(inventory, gone), acknowledgements }, signal);
  if (!answer) return undefined;
  inventory.change([...settleBatch(batch, answer.unassigned), ...gone.map(forgetRemoval)]);
  unassigned.noteAsked(upserts.map(({ versionId }) => versionId));
  board.acknowledged(acknowledgements);
  return answer;
}

/** A request for a version that is gone is failed first, with its own reason. */
function mayReportGone(board: WorkBoard, versionId: string): boolean {
  const request = board.byVersion().get(versionId);
  return request?.stage !== "deliver" || board.isClosed(request);
}

/** Files that we deleted ourselves are reported with the rule that asked for it. */
function splitByCause({ removals }: Inventory, versionIds: readonly string[]): Pick<Report, "removals" | "deletions"> {
  const gone = versionIds.map((versionId) => ({ versionId, because: removals().get(versionId)!.because }));
  return {
    removals: gone.filter(({ because }) => !isOurs(because)).map(({ versionId }) => versionId),
    deletions: gone.flatMap(({ versionId, because }) => (isOurs(because) ? [{ versionId, because }] : [])),
  };
}

function isOurs(because: GoneBecause): because is DeletionReason {
  return DeletionReason.options.some((reason) => reason === because);
}
