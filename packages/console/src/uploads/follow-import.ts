import { pendingImports } from "@downlink/protocol";
import { client } from "../api/client.ts";
import { explainFailure } from "../api/failure.ts";
import { isSignedOut, noteOutcome, retryAfterMs } from "../api/queries.ts";
import type { UploadEvent } from "./upload-state.ts";

const LOOK_MS = 1000;
const LONGEST_MS = 10_000;

/**
 * Waits until a file that was sent is imported, or has failed. For a user who may not see that, no more is known of it. Returns undefined once
 * it is shown no longer.
 */
export async function followImport(requestId: string, isShown: () => boolean): Promise<UploadEvent | undefined> {
  for (let looks = 1; ; looks++) {
    if (!isShown()) return undefined;
    const found = isSignedOut.peek() ? 0 : await look(requestId).catch(waitOrEnd);
    if (typeof found !== "number") return found;
    const usualMs = Math.min(LONGEST_MS, LOOK_MS * 1.2 ** looks);
    await new Promise((resolve) => setTimeout(resolve, Math.max(usualMs, found)));
  }
}

/** Returns the end of the import, or how many milliseconds to wait at least before the next look. */
async function look(requestId: string): Promise<UploadEvent | number> {
  const [found] = await noteOutcome(client.call(pendingImports.list, { requestId }));
  if (!found) return { type: "import", recordingId: undefined };
  return found.terminal ? outcomeOf(found) : 0;
}

function waitOrEnd(error: unknown): UploadEvent | number {
  const { kind, text } = explainFailure(error);
  if (kind === "forbidden") return { type: "import", recordingId: undefined };
  if (kind === "signedOut") return 0; // the user signs in meanwhile
  return retryAfterMs(error, 1) ?? { type: "fail", problem: text };
}

interface Ended {
  readonly recordingId?: string | undefined;
  readonly existing: boolean;
  readonly error?: string | undefined;
  readonly pipelineStage: string;
}

function outcomeOf({ recordingId, existing, error, pipelineStage }: Ended): UploadEvent {
  if (recordingId !== undefined) return { type: existing ? "exist" : "import", recordingId };
  return { type: "fail", problem: `It was not imported: ${error ?? pipelineStage}.` };
}
