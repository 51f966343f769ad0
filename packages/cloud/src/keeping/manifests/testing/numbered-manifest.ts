import type { Imported } from "../manifest.ts";

interface Owners {
  readonly orgId: string;
  readonly projectId: string;
  readonly siteId: string;
}

/** Returns the part of an id that stands for a number. */
export const nameOf = (number: number) => String(number).padStart(26, "0");

/** Makes the manifest of an import whose ids are all derived from a number. */
export function numberedManifest({ orgId, projectId, siteId }: Owners, number: number): Imported {
  const name = nameOf(number);
  return {
    ...{ version: 1, kind: "import", orgId, uploadId: `upl_${name}`, uploadKind: "stream", requestId: `req_${name}` },
    ...{ source: "upload", priority: 0, projectId, siteId, filename: `${number}.mcap`, recordingId: `rec_${name}` },
    ...{ importId: `imp_${name}`, requestedAtNs: 1n, begunAtNs: 2n, importedAtNs: 3n, sizeBytes: 1000n },
    ...{ sha256: name.padStart(64, "0"), format: "mcap", startNs: 1n, endNs: 2n, messageCount: 1n },
    ...{ indexKey: `${orgId}/idx_${name}`, redeliveries: 0 },
  };
}
