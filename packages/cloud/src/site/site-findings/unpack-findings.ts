import { inflateRawSync } from "node:zlib";
import { SiteFindings, siteLimits } from "@downlink/protocol";
import { IngestError } from "../../imports/ingest/ingest-failure.ts";

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
