import type { Inspection, RecordingSummary } from "@downlink/recordings";

/** The summary of a recording that can become a row. */
export type ImportableSummary = RecordingSummary & { startNs: bigint; endNs: bigint };

/** Why a file cannot be imported: a code, and a sentence for a person. */
export interface Refusal {
  readonly code: string;
  readonly text: string;
}

export type FileVerdict = { readonly summary: ImportableSummary } | { readonly refusal: Refusal };

/** The limit of a name in UTF-8: an index can hold it, and 65,535 rows of it are not too much. */
const MAX_TOPIC_BYTES = 2000;
const MAX_SCHEMA_NAME_BYTES = 1000;
const MAX_ENCODING_BYTES = 255;
/** The approximate limit of all metadata records as JSON, because every list that shows the recording includes them. */
const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const ENTRY_BYTES = 10; // around a key and a value
/** Each attachment is one row, and all are written in one transaction. */
const MAX_ATTACHMENTS = 200_000;

/** Decides whether a file can be imported as it is. */
export function judgeFile(inspection: Inspection): FileVerdict {
  if (inspection.state === "empty") {
    const text = "the file is valid but holds no message, so it has no time span and is no recording";
    return { refusal: { code: "EmptyRecording", text } };
  }
  if (inspection.state !== "finished") return { refusal: inspection.reason };
  const { summary } = inspection;
  const refusal = judgeSummary(summary);
  return refusal ? { refusal } : { summary: summary as ImportableSummary }; // a finished file has messages, and so a span
}

/** Returns why what was found in a file is more than can be kept of it; undefined if it can be. */
export function judgeSummary(summary: RecordingSummary): Refusal | undefined {
  return refuseNames(summary) ?? refuseMetadata(summary) ?? refuseAttachments(summary);
}

function refuseNames({ topics }: RecordingSummary): Refusal | undefined {
  for (const { topic, schemaName, schemaEncoding, messageEncoding } of topics) {
    const refusal =
      refuseLonger("a topic's name", topic, MAX_TOPIC_BYTES) ??
      refuseLonger("a schema's name", schemaName, MAX_SCHEMA_NAME_BYTES) ??
      refuseLonger("a schema's encoding", schemaEncoding, MAX_ENCODING_BYTES) ??
      refuseLonger("a message encoding", messageEncoding, MAX_ENCODING_BYTES);
    if (refusal) return refusal;
  }
  return undefined;
}

function refuseLonger(what: string, name: string, maxBytes: number): Refusal | undefined {
  const bytes = Buffer.byteLength(name);
  if (bytes <= maxBytes) return undefined;
  const start = name.slice(0, 60).toWellFormed();
  return { code: "NameTooLong", text: `${what} is ${bytes} bytes long, at most ${maxBytes} are kept: "${start}…"` };
}

function refuseMetadata({ metadata }: RecordingSummary): Refusal | undefined {
  let bytes = 0;
  for (const { name, metadata: entries } of metadata)
    for (const [key, value] of [["", name], ...Object.entries(entries)])
      bytes += Buffer.byteLength(key!) + Buffer.byteLength(value!) + ENTRY_BYTES;
  if (bytes <= MAX_METADATA_BYTES) return undefined;
  const text = `the metadata records are ${bytes} bytes large; at most ${MAX_METADATA_BYTES} are kept with a recording. Put large data into attachments`;
  return { code: "MetadataTooLarge", text };
}

function refuseAttachments({ attachments }: RecordingSummary): Refusal | undefined {
  if (attachments.length <= MAX_ATTACHMENTS) return undefined;
  const text = `the file has ${attachments.length} attachments; at most ${MAX_ATTACHMENTS} are listed. Split the recording`;
  return { code: "TooManyAttachments", text };
}
