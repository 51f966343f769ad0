import { createHash } from "node:crypto";
import { EdgeItem, type EdgeRecordingItem, edgeLimits, RecordingKey } from "@downlink/protocol";
import type { RecordingSummary, Salvage } from "@downlink/recordings";
import type { Findings, Schema, TrackedFile } from "../inventory/tracked-file.ts";

type Reason = NonNullable<Findings["reason"]>;

/** Of no bytes: for files of which none could be read. */
export const emptySha256 = createHash("sha256").digest("hex");

/** An item must fit into a report, and leave room for the frame around it. */
const MAX_ITEM_BYTES = edgeLimits.bytesPerReport - 64 * 1024;
/** In a report as base 64. A schema above it is never sent: the cloud reads it from the imported file. */
const MAX_SCHEMA_BYTES = 2 * 1024 * 1024;

type FinishedFacts = Pick<EdgeRecordingItem, "versionId" | "path" | "size" | "modifiedAt" | "headTailSha256">;

/** What to keep of a finished recording, or the reason why it cannot be reported as one. */
export function findingsOfSummary(
  file: TrackedFile,
  summary: RecordingSummary,
  headTailSha256: string,
): Findings | Reason {
  const { startNs, endNs } = summary;
  if (startNs === undefined || endNs === undefined)
    return { code: "InvalidTime", text: "The messages have no time span." };
  const facts = { ...fileFacts(file), headTailSha256 };
  const encoded = EdgeItem.safeEncode(toItem(facts, summary, { startNs, endNs }));
  if (!encoded.success)
    return { code: "OutOfContract", text: `Its summary cannot be reported: ${encoded.error.issues[0]?.message}.` };
  const item = JSON.stringify(encoded.data);
  if (Buffer.byteLength(item) > MAX_ITEM_BYTES) {
    const text = `Its summary takes ${Buffer.byteLength(item)} bytes, more than the ${MAX_ITEM_BYTES} that a report may hold.`;
    return { code: "SummaryTooLarge", text };
  }
  return { headTailSha256, startNs, endNs, item };
}

function toItem(
  facts: FinishedFacts,
  summary: RecordingSummary,
  span: { startNs: bigint; endNs: bigint },
): EdgeRecordingItem {
  const { key } = summary.identity;
  return {
    ...facts,
    state: "indexed",
    format: summary.format,
    start: span.startNs,
    end: span.endNs,
    messageCount: summary.messageCount,
    key: RecordingKey.safeParse(key).success ? key : undefined,
    metadata: summary.metadata,
    attachments: summary.attachments.map(({ logTimeNs, createTimeNs, sizeBytes, ...attachment }) => ({
      ...attachment,
      logTime: logTimeNs,
      createTime: createTimeNs,
      size: sizeBytes,
    })),
    topics: summary.topics.map(({ messageEncoding, schema: _, startNs, endNs, ...topic }) => ({
      ...topic,
      encoding: messageEncoding,
      start: startNs,
      end: endNs,
    })),
  };
}

export function schemasOf({ topics }: RecordingSummary): Schema[] {
  const bySha = new Map(topics.map(({ schemaSha256, schema }) => [schemaSha256, schema]));
  return [...bySha]
    .filter(([, data]) => data.byteLength <= MAX_SCHEMA_BYTES)
    .map(([sha256, data]) => ({ sha256, data }));
}

export function findingsOfFault(
  { reason, salvage }: { readonly reason: Reason; readonly salvage?: Salvage },
  headTailSha256: string,
): Findings {
  return { headTailSha256, startNs: salvage?.startNs, endNs: salvage?.endNs, reason };
}

/** The item that tells the cloud of a file as it is now; undefined while it should not know of it. */
export function itemOf(
  file: TrackedFile,
  state: EdgeItem["state"],
  findings: Findings | undefined,
): EdgeItem | undefined {
  const facts = fileFacts(file);
  if (state === "indexed") {
    if (findings?.item === undefined) return undefined;
    // The path may have changed since: it is only an attribute.
    return { ...EdgeItem.decode(JSON.parse(findings.item)), ...facts };
  }
  const { headTailSha256 = emptySha256, reason, startNs, endNs } = findings ?? {};
  const salvage = startNs !== undefined && endNs !== undefined ? { start: startNs, end: endNs } : undefined;
  return { ...facts, headTailSha256, state, reason: reason && shorten(reason), salvage };
}

function fileFacts({ versionId, path, identity }: TrackedFile) {
  return { versionId, path, size: identity.sizeBytes, modifiedAt: identity.mtimeNs };
}

/** As the contract takes it: a reason may quote what a broken file says, and a cut may part a surrogate pair. */
function shorten({ code, text }: Reason): Reason {
  return { code: code.slice(0, 64), text: text.replaceAll("\0", "\ufffd").slice(0, 1000).toWellFormed() };
}
