import { ApiCallError } from "@downlink/client";
import { api, type CallInput, edgeLimits, type Output } from "@downlink/protocol";
import type { ReportState } from "../cloud/report-state.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Inventory } from "../inventory/inventory.ts";

export type Report = Omit<CallInput<typeof api.edge.report>, "sequence">;
export type ReportAnswer = Output<typeof api.edge.report>;

/** Sends reports, and remembers what the cloud cannot take and what it asked for. */
export interface ReportChannel {
  send(report: Report, signal: AbortSignal): Promise<ReportAnswer>;
  /** Undefined when the cloud refuses the content: the next report holds fewer items, until the one bad item is found. */
  sendItems(report: Report, signal: AbortSignal): Promise<ReportAnswer | undefined>;
  /** How many items the next report may hold. */
  maxItems(): number;
  /** False for an item that the cloud refuses whatever else is in the report, until the item changes. */
  isAccepted(versionId: string): boolean;
  /** Items that changed since they were refused are accepted again. */
  forgetChanged(): void;
  /** Schemas that the cloud asked for, and that were not sent yet. */
  readonly unknownSchemas: Set<string>;
}

export interface ChannelContext {
  readonly session: CloudSession;
  readonly inventory: Inventory;
  readonly problems: ProblemBoard;
  readonly log: Log;
}

export function createReportChannel(ctx: ChannelContext, state: ReportState): ReportChannel {
  const refused = createRefusedItems(ctx);
  const unknownSchemas = new Set<string>();
  let maxItems: number = edgeLimits.itemsPerReport;
  const send: ReportChannel["send"] = async (report, signal) => {
    state.sequence += 1;
    const { sequence } = state;
    const answer = await ctx.session.call(api.edge.report, { ...report, sequence }, { signal });
    for (const sha256 of answer.unknownSchemas) unknownSchemas.add(sha256);
    ctx.log.debug({ upserts: report.upserts.length, removals: report.removals?.length }, "reported");
    return answer;
  };
  return {
    send,
    async sendItems(report, signal) {
      try {
        const answer = await send(report, signal);
        maxItems = Math.min(edgeLimits.itemsPerReport, maxItems * 2);
        return answer;
      } catch (failure) {
        const { upserts } = report;
        if (!isAboutContent(failure) || upserts.length === 0) throw failure;
        maxItems = Math.max(1, Math.floor(upserts.length / 2));
        if (upserts.length === 1) refused.note(upserts[0]!, failure);
        return undefined;
      }
    },
    maxItems: () => maxItems,
    isAccepted: refused.isAccepted,
    forgetChanged: refused.forgetChanged,
    unknownSchemas,
  };
}

function isAboutContent(failure: unknown): failure is ApiCallError {
  return failure instanceof ApiCallError && failure.code !== undefined && [400, 413].includes(failure.status);
}

/** One item that the cloud cannot take must not hold up the report of all others. */
function createRefusedItems({ inventory, problems, log }: ChannelContext) {
  const keys = new Set<string>();
  const keyOf = (versionId: string) => `${versionId} ${inventory.version(versionId)?.revision}`;
  return {
    isAccepted: (versionId: string): boolean => !keys.has(keyOf(versionId)),
    note({ versionId, path }: Report["upserts"][number], failure: ApiCallError): void {
      keys.add(keyOf(versionId));
      problems.raise("FileRefused", `${path}: ${failure.message}`);
      log.error({ path, err: failure }, "the control plane refuses the report of a file");
    },
    forgetChanged(): void {
      for (const key of keys) if (key !== keyOf(key.split(" ")[0]!)) keys.delete(key);
      if (keys.size === 0) problems.clear("FileRefused");
    },
  };
}
