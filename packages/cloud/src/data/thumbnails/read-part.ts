import { DecodeError } from "@downlink/messages/value";
import type { RecordingModel, RecordingTopicModel } from "../../db/generated/models.ts";
import type { StoredSource } from "../exports/export-selection.ts";
import { type ExportDeps, readSelection } from "../exports/stream-selection.ts";

/** A recording of which something is made, and its data. */
export interface Making {
  readonly recording: Pick<RecordingModel, "id" | "orgId" | "startNs" | "endNs"> & {
    /** Where its messages lie, if it has long gaps. */
    readonly spans: readonly Span[];
    readonly topics: readonly Pick<RecordingTopicModel, "topic" | "schemaName" | "messageCount">[];
  };
  readonly source: StoredSource;
  readonly signal: AbortSignal;
}

interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

/** The most bytes of one part. */
export const MAX_PART_BYTES = 64_000_000;

/** Returns the topics that have messages of some types, by name. */
export function topicsOf({ topics }: Making["recording"], types: RegExp): string[] {
  const found = topics.filter(({ schemaName, messageCount }) => types.test(schemaName) && messageCount > 0n);
  return [...new Set(found.map(({ topic }) => topic))].sort();
}

/** A time, and how long before it a message may lie that stands for it. */
interface Instant {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly lookbackNs: bigint;
}

/** Returns the ends of equal parts of a recording, in which its long gaps count as no time; one where it has no length. */
export function instantsOf({ startNs, endNs, spans }: Making["recording"], count: number): Instant[] {
  const all = spans.length > 0 ? spans : [{ startNs, endNs }];
  const lengthNs = all.reduce((sum, span) => sum + span.endNs - span.startNs, 0n);
  const parts = lengthNs > 0n ? BigInt(count) : 1n;
  return Array.from({ length: Number(parts) }, (_, place) => {
    const atNs = timeAfter(all, (lengthNs * BigInt(place + 1)) / parts);
    return { startNs: atNs, endNs: atNs, lookbackNs: lengthNs / parts + 1n };
  });
}

/** Returns the time at which so much of the spans is over. */
function timeAfter(spans: readonly Span[], lengthNs: bigint): bigint {
  let leftNs = lengthNs;
  for (const { startNs, endNs } of spans) {
    if (leftNs <= endNs - startNs) return startNs + leftNs;
    leftNs -= endNs - startNs;
  }
  return spans.at(-1)!.endNs;
}

export interface Part extends Omit<Instant, "lookbackNs"> {
  readonly topics: readonly string[];
  /** Absent: without the messages before the start. */
  readonly lookbackNs?: bigint;
}

/** Returns an MCAP file with the messages of topics in a part of the recording. Throws {@link DecodeError} where it is too large. */
export async function readPart(
  deps: ExportDeps,
  { recording, source, signal }: Making,
  { topics, startNs, endNs, lookbackNs }: Part,
): Promise<Uint8Array> {
  const selection = {
    ...{ fileName: `${recording.id}.mcap`, orgId: recording.orgId, sources: [source], topicSets: [] },
    ...{ topics: [...topics], startNs: String(startNs), endNs: String(endNs), includeAttachments: false },
    ...(lookbackNs !== undefined && { lastPerChannel: { lookbackNs: String(lookbackNs) } }),
    output: { format: "mcap", compression: "" } as const,
  };
  const taker = { owner: recording.orgId, token: recording.id };
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of readSelection(deps, { selection, taker, signal })) {
    bytes += piece.byteLength;
    if (bytes > MAX_PART_BYTES)
      throw new DecodeError(`The messages of one part have more than ${MAX_PART_BYTES / 1_000_000} MB.`);
    pieces.push(new Uint8Array(piece)); // the export may write over it
  }
  return joinOwned(pieces, bytes);
}

/** A buffer of Node's would take others' bytes of its pool along to a thread. */
function joinOwned(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const joined = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.byteLength;
  }
  return joined;
}
