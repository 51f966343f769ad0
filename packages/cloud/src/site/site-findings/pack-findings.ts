import { deflateRawSync } from "node:zlib";
import { SiteFindings, siteLimits } from "@downlink/protocol";
import { z } from "zod";
import type { ImportableSummary } from "../../background/indexing/judge-file.ts";
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
