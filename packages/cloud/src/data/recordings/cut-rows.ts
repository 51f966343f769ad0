import type { CutFailure, Recording, RecordingCut } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import type { Prisma } from "../../db/generated/client.ts";
import type { CutModel } from "../../db/generated/models.ts";
import { takesCuts } from "../../fleet/agents/agent-rows.ts";

export const withRecording = {
  recording: { select: { importStatus: true, sizeBytes: true, failureCode: true, failureText: true } },
  agent: { select: { facts: true, agentVersion: true } },
} as const;

export const inOrder = [{ startNs: "asc" as const }, { id: "asc" as const }];

type CutRow = Prisma.CutGetPayload<{ include: typeof withRecording }>;

/** Once there is a recording of the part, its state is that of the cut. */
export function toCut(row: CutRow): Complete<RecordingCut> {
  const { id, state, recording } = row;
  const isFailed = state === "failed";
  const [code, text] = recording ? [recording.failureCode, recording.failureText] : [row.reasonCode, row.reasonText];
  return {
    ...partOf(row),
    id,
    recordingId: row.recordingId ?? undefined,
    size: recording ? Number(recording.sizeBytes) : undefined,
    importStatus: recording?.importStatus ?? (isFailed ? "failed" : "pending"),
    failure: code === null || (!recording && !isFailed) ? undefined : { code, text: text ?? "" },
    waitsFor: state === "requested" ? explainWait(row) : undefined,
  };
}

/** A part that failed, or whose data was deleted, is not there, and can be asked for again; one without messages stays that. */
export function isKept(row: CutRow): boolean {
  const { importStatus } = toCut(row);
  return isEmpty(row) || (importStatus !== "failed" && importStatus !== "none");
}

/** Says whether the device found no message in the part. */
export function isEmpty({ state, reasonCode }: Pick<CutModel, "state" | "reasonCode">): boolean {
  return state === "failed" && reasonCode === ("EmptyCut" satisfies CutFailure);
}

function explainWait({ agent, reasonText }: CutRow): string | undefined {
  if (!agent) return "The device has no agent any more.";
  if (takesCuts(agent)) return reasonText === null ? undefined : `The device is asked again: ${reasonText}.`;
  return `The agent of the device has the version ${agent.agentVersion}, which cannot send a part of a file. Update it.`;
}

type PartColumns = Pick<CutModel, "topics" | "startNs" | "endNs">;

/** Returns the part as answers show it. */
function partOf({ topics, startNs: start, endNs: end }: PartColumns) {
  return { topics, start, end };
}

/** The cut of a recording as lists read it. */
export interface CutFacts {
  readonly wholeId: string;
  readonly topics: string[];
  readonly startNs: string;
  readonly endNs: string;
}

/** Returns of which recording another one is a part. */
export function toCutOf(cut: CutFacts | null): Complete<Recording["cutOf"]> {
  if (cut === null) return undefined;
  const { wholeId: recordingId, topics, startNs, endNs } = cut;
  return { recordingId, ...partOf({ topics, startNs: BigInt(startNs), endNs: BigInt(endNs) }) };
}
