import { type Inspection, judgeSummary, type RecordingSummary } from "@downlink/recordings";

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
  if (inspection.state === "empty") {
    const [reason] = inspection.summary.damage?.reasons ?? [];
    const text = reason
      ? `the file holds no message that can be found, and is not whole: ${reason.text}`
      : "the file is valid but holds no message, so it has no time span and is no recording";
    return { refusal: { code: "EmptyRecording", text } };
  }
  if (inspection.state !== "finished") return { refusal: inspection.reason };
  const { summary } = inspection;
  const refusal = judgeSummary(summary);
  return refusal ? { refusal } : { summary: summary as ImportableSummary }; // a finished file has messages, and so a span
}
