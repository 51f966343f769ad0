import { describeEmpty, type Inspection, judgeSummary, type RecordingSummary } from "@downlink/recordings";

/** The summary of a recording that can become a row. */
export type ImportableSummary = RecordingSummary & { startNs: bigint; endNs: bigint };

/** Why a file cannot be imported: a code, and a sentence for a person. */
export interface Refusal {
  readonly code: string;
  readonly text: string;
}

export type FileVerdict = { readonly summary: ImportableSummary } | { readonly refusal: Refusal };

/** Decides whether a file can be imported as it is. */
export function judgeFile(inspection: Inspection): FileVerdict {
  if (inspection.state === "empty")
    return { refusal: { code: "EmptyRecording", text: describeEmpty(inspection.summary) } };
  if (inspection.state !== "finished") return { refusal: inspection.reason };
  const { summary } = inspection;
  const refusal = judgeSummary(summary);
  return refusal ? { refusal } : { summary: summary as ImportableSummary }; // a finished file has messages, and so a span
}
