import { deflateRawSync, inflateRawSync } from "node:zlib";
import { SiteFindings, siteLimits } from "@downlink/protocol";
import { judgeSummary } from "@downlink/recordings";
import { z } from "zod";
import type { ImportableSummary } from "../../background/indexing/judge-file.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";

interface Found {
  readonly contentSha256: string;
  readonly summary: ImportableSummary;
}

/** Packs what was found in a file into pieces for the control plane. Throws an IngestError if it is more than that takes. */
export function packFindings({ contentSha256, summary }: Found): Buffer[] {
  const { format, sizeBytes, messageCount, startNs, endNs, spans, attachments, identity, damage } = summary;
  const schemas = new Map(summary.topics.map(({ schemaSha256, schema }) => [schemaSha256, schema]));
  const findings = {
    sha256: contentSha256,
    ...{ format, sizeBytes, messageCount, startNs, endNs, spans, attachments, identity, damage },
    topics: summary.topics,
    schemas: [...schemas].map(([sha256, data]) => ({ sha256, data })),
    metadata: summary.metadata,
  };
  const text = JSON.stringify(z.encode(SiteFindings, findings as SiteFindings));
  const packed = deflateRawSync(text);
  const pieces = Array.from({ length: Math.ceil(packed.byteLength / siteLimits.bytesPerPiece) }, (_, at) =>
    packed.subarray(at * siteLimits.bytesPerPiece, (at + 1) * siteLimits.bytesPerPiece),
  );
  if (Buffer.byteLength(text) > siteLimits.bytesPerFile || pieces.length > siteLimits.piecesPerFile)
    throw new IngestError("TooMuchFound", "the topics and schemas of the file are more than the control plane takes");
  return pieces;
}

/** Reads what a site sent in pieces. Throws an IngestError for anything else than findings, however they were packed. */
export function unpackFindings(pieces: readonly Uint8Array[]): SiteFindings {
  const { data, error } = SiteFindings.safeParse(parse(Buffer.concat(pieces)));
  if (!error) return data;
  const [issue] = error.issues;
  throw unreadable(`${issue!.path.join(".")} ${issue!.message}`);
}

function parse(packed: Buffer): unknown {
  try {
    return JSON.parse(inflateRawSync(packed, { maxOutputLength: siteLimits.bytesPerFile }).toString("utf8"));
  } catch (error) {
    throw unreadable((error as Error).message);
  }
}

function unreadable(fault: string): IngestError {
  return new IngestError("FindingsUnreadable", `what the site found in the file cannot be read: ${fault}`);
}

/** Returns the summary of a file as if it had been read here. The site's word is judged by the rules for all files. */
export function toSummary(
  found: SiteFindings,
  { sizeBytes }: Pick<ImportRequestModel, "sizeBytes">,
): ImportableSummary {
  const { sha256: _, schemas, topics, ...facts } = found;
  if (BigInt(found.sizeBytes) !== sizeBytes || found.startNs > found.endNs)
    throw new IngestError("FindingsUnreadable", "what the site found is not of the file that it had stored");
  const texts = new Map(schemas.map(({ sha256, data }) => [sha256, data]));
  const withSchema = ({ schemaSha256, ...topic }: SiteFindings["topics"][number]) => {
    const schema = texts.get(schemaSha256);
    if (!schema) throw new IngestError("FindingsUnreadable", `the schema of topic ${topic.topic} is missing`);
    return { ...topic, schemaSha256, schema };
  };
  const summary = { ...facts, topics: topics.map(withSchema), method: "scan" } as ImportableSummary;
  const refusal = judgeSummary(summary);
  if (refusal) throw new IngestError(refusal.code, refusal.text);
  return summary;
}
