import { createHash } from "node:crypto";
import { EdgeItem, type EdgeRecordingItem, edgeLimits, RecordingKey } from "@downlink/protocol";
import { judgeSummary, type LeftOutCounts, type RecordingSummary, type Salvage } from "@downlink/recordings";
import type { Findings, Schema, TrackedFile } from "../inventory/tracked-file.ts";
import { PARTLY_LISTED_CODE } from "./reason-codes.ts";

type Reason = NonNullable<Findings["reason"]>;

/** The hash of no bytes, for files of which none could be read: there is no content by which to recognize them. */
export const emptySha256 = createHash("sha256").digest("hex");

/** An item must fit into a report, and leave room for the frame around it. */
const MAX_ITEM_BYTES = edgeLimits.bytesPerReport - 64 * 1024;
/** A larger schema is never sent: the cloud reads it from the imported file. */
const MAX_SCHEMA_BYTES = 2 * 1024 * 1024;

type FinishedFacts = Pick<EdgeRecordingItem, "versionId" | "path" | "size" | "modifiedAt" | "headTailSha256">;

/** The share of each list where a report has no room for all of a recording. */
const listBytes = { topics: MAX_ITEM_BYTES / 2, metadata: MAX_ITEM_BYTES / 4, attachments: MAX_ITEM_BYTES / 8 };
/** The longest name of a topic in the contract. */
const MAX_TOPIC_LENGTH = 1024;

/** The facts that were read of the file beside its summary. */
export interface Looked {
  readonly headTailSha256: string;
  /** The mean bytes of a message, by topic, as far as they are known. */
  readonly messageBytes: ReadonlyMap<string, number>;
}

/**
 * Returns what to keep of a finished recording, or the reason why it cannot be reported as one. Parts that are too large for a report are
 * left out, and the reason says so: the recording can still be imported.
 */
export function findingsOfSummary(
  file: TrackedFile,
  summary: RecordingSummary,
  { headTailSha256, messageBytes }: Looked,
): Findings | Reason {
  const { startNs, endNs } = summary;
  if (startNs === undefined || endNs === undefined)
    return { code: "InvalidTime", text: "The messages have no time span." };
  const refusal = judgeSummary(summary);
  if (refusal) return { code: refusal.code, text: `It is whole, and ${refusal.text}.` };
  const facts = { ...fileFacts(file), headTailSha256 };
  const whole = toItem(facts, summary, { startNs, endNs, messageBytes });
  const { item: fitted, leftOut } = fitIntoReport(whole, summary.leftOut);
  const reason = leftOut && partlyListed(leftOut);
  const encoded = EdgeItem.safeEncode({ ...fitted, reason });
  if (!encoded.success)
    return { code: "OutOfContract", text: `Its summary cannot be reported: ${encoded.error.issues[0]?.message}.` };
  const item = JSON.stringify(encoded.data);
  if (Buffer.byteLength(item) > MAX_ITEM_BYTES) {
    const text = `Its summary takes ${Buffer.byteLength(item)} bytes, more than the ${MAX_ITEM_BYTES} that a report may hold.`;
    return { code: "SummaryTooLarge", text };
  }
  return { headTailSha256, startNs, endNs, reason, item };
}

const noBounds = { topics: Infinity, metadata: Infinity, attachments: Infinity };
const nothing: LeftOutCounts = { channels: 0, attachments: 0, metadata: 0, chunks: 0 };

function fitIntoReport(
  item: EdgeRecordingItem,
  before: LeftOutCounts = nothing,
): { item: EdgeRecordingItem; leftOut?: LeftOutCounts } {
  const named = item.topics.filter(({ topic }) => topic.length <= MAX_TOPIC_LENGTH);
  const most = bytesOf({ ...item, topics: named }) <= MAX_ITEM_BYTES ? noBounds : listBytes;
  const topics = takeFitting(named, most.topics);
  const metadata = takeFitting(item.metadata, most.metadata);
  const attachments = takeFitting(item.attachments, most.attachments);
  const leftOut = {
    channels: before.channels + item.topics.length - topics.length,
    metadata: before.metadata + item.metadata.length - metadata.length,
    attachments: before.attachments + item.attachments.length - attachments.length,
    chunks: before.chunks,
  };
  const isWhole = Object.values(leftOut).every((count) => count === 0);
  return isWhole ? { item } : { item: { ...item, topics, metadata, attachments }, leftOut };
}

/** Takes what fits, in its order. One that is too large is passed over, because the last metadata record may name the device. */
function takeFitting<T extends object>(all: readonly T[], maxBytes: number): T[] {
  let takenBytes = 0;
  return all.filter((one) => {
    const bytes = bytesOf(one);
    const fits = takenBytes + bytes <= maxBytes;
    if (fits) takenBytes += bytes;
    return fits;
  });
}

/** Returns the size as JSON, in which a time is a text of thirty characters. */
function bytesOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value, (_, field) => (typeof field === "bigint" ? TIME : field))) + 1;
}

const TIME = "2026-01-01T00:00:00.000000000Z";

function partlyListed({ channels, attachments, metadata, chunks }: LeftOutCounts): Reason {
  const parts = [
    channels > 0 ? `${channels} of its channels` : "",
    metadata > 0 ? `${metadata} of its metadata records` : "",
    attachments > 0 ? `${attachments} of its attachments` : "",
    chunks > 0 ? `what is in ${chunks} of its chunks` : "",
  ].filter(Boolean);
  const text = `It holds more than the agent can list: ${parts.join(", ")} will be known once it is imported; an import takes all of it.`;
  return { code: PARTLY_LISTED_CODE, text };
}

function toItem(
  facts: FinishedFacts,
  summary: RecordingSummary,
  span: { startNs: bigint; endNs: bigint } & Pick<Looked, "messageBytes">,
): EdgeRecordingItem {
  const { key } = summary.identity;
  return {
    ...facts,
    state: "indexed",
    format: summary.format,
    start: span.startNs,
    end: span.endNs,
    spans: summary.spans?.map(({ startNs, endNs }) => ({ start: startNs, end: endNs })),
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
      bytes: bytesOfTopic(topic, span.messageBytes.get(topic.topic)),
      encoding: messageEncoding,
      start: startNs,
      end: endNs,
    })),
  };
}

function bytesOfTopic(
  { messageCount }: { messageCount: number },
  messageBytes: number | undefined,
): number | undefined {
  return messageBytes === undefined ? undefined : Math.round(messageCount * messageBytes);
}

export function schemasOf({ topics }: RecordingSummary): Schema[] {
  const held = topics.filter(({ isSchemaLeftOut }) => !isSchemaLeftOut);
  const bySha = new Map(held.map(({ schemaSha256, schema }) => [schemaSha256, schema]));
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

/** Returns the item that reports a file as it is now; undefined while the cloud should not know it. */
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

/** Fits a reason into the contract: it may quote what a broken file says, and a cut may split a surrogate pair. */
function shorten({ code, text }: Reason): Reason {
  return { code: code.slice(0, 64), text: text.replaceAll("\0", "\ufffd").slice(0, 1000).toWellFormed() };
}
