import type { RecordingSummary } from "./summary.ts";

/** The limit of a name in UTF-8: an index can hold it, and 65,535 rows of it are not too much. */
const MAX_TOPIC_BYTES = 2000;
const MAX_SCHEMA_NAME_BYTES = 1000;
const MAX_ENCODING_BYTES = 255;
/** The approximate limit of all metadata records as JSON, because every list that shows the recording includes them. */
const MAX_METADATA_BYTES = 4 * 1024 * 1024;
const ENTRY_BYTES = 10; // around a key and a value
/** Each attachment is one row of a database, and all are written in one transaction. */
const MAX_ATTACHMENTS = 200_000;

/** Codes of recordings that are whole, and of which there is more than a control plane keeps. The same bytes are refused each time. */
export const summaryRefusals = ["NameTooLong", "MetadataTooLarge", "TooManyAttachments"] as const;

/** Why a whole recording cannot be imported: a code, and a sentence for a person. */
export interface SummaryRefusal {
  readonly code: (typeof summaryRefusals)[number];
  readonly text: string;
}

/**
 * Returns why what was found in a file is more than a control plane keeps of it; undefined if it is not. The agent asks the same before it
 * sends a byte.
 */
export function judgeSummary(summary: RecordingSummary): SummaryRefusal | undefined {
  return refuseNames(summary) ?? refuseMetadata(summary) ?? refuseAttachments(summary);
}

/** Returns why a recording without a message is not imported, as a sentence about the file without its end. */
export function describeEmpty({ damage, attachments }: RecordingSummary): string {
  const [reason] = damage?.reasons ?? [];
  if (reason) return `it holds no message that can be found, and is not whole: ${reason.text}`;
  const held = attachments.length === 0 ? "" : `, and attachments alone (${attachments.length}) have no place in time`;
  return `it is valid but holds no message, so it has no time span and is no recording${held}`;
}

function refuseNames({ topics }: RecordingSummary): SummaryRefusal | undefined {
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

function refuseLonger(what: string, name: string, maxBytes: number): SummaryRefusal | undefined {
  const bytes = Buffer.byteLength(name);
  if (bytes <= maxBytes) return undefined;
  const start = name.slice(0, 60).toWellFormed();
  return {
    code: "NameTooLong",
    text: `${what} is ${bytes} bytes long, at most ${maxBytes} are kept: "${start}…". Record with a shorter name`,
  };
}

function refuseMetadata({ metadata }: RecordingSummary): SummaryRefusal | undefined {
  let bytes = 0;
  for (const { name, metadata: entries } of metadata)
    for (const [key, value] of [["", name], ...Object.entries(entries)])
      bytes += Buffer.byteLength(key!) + Buffer.byteLength(value!) + ENTRY_BYTES;
  if (bytes <= MAX_METADATA_BYTES) return undefined;
  const text = `the metadata records are ${bytes} bytes large; at most ${MAX_METADATA_BYTES} are kept with a recording. Put large data into attachments`;
  return { code: "MetadataTooLarge", text };
}

function refuseAttachments({ attachments, leftOut }: RecordingSummary): SummaryRefusal | undefined {
  const count = attachments.length + (leftOut?.attachments ?? 0);
  if (count <= MAX_ATTACHMENTS) return undefined;
  const text = `the file has ${count} attachments; at most ${MAX_ATTACHMENTS} are listed. Split the recording`;
  return { code: "TooManyAttachments", text };
}
