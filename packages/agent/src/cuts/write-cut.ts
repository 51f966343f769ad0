import { CUT_RECORD_NAME, type WantedCut } from "@downlink/protocol";
import {
  cutRecording,
  findIdentity,
  inspectRecording,
  leanLimits,
  type MetadataRecord,
  type RandomAccessSource,
} from "@downlink/recordings";
import { cutPathOf } from "../files/made-path.ts";
import type { Storage } from "../files/open-tracked.ts";
import type { Findings, TrackedFile } from "../inventory/tracked-file.ts";
import type { MeasureRoom } from "../making/measure-room.ts";
import { MadeEmptyError, writeMadeFile } from "../making/write-made-file.ts";
import { agentVersion } from "../system/version.ts";
import { expectSize } from "./expect-size.ts";

export interface CutJob {
  readonly storage: Storage;
  readonly file: TrackedFile;
  readonly request: WantedCut;
  readonly findings: Findings | undefined;
  readonly room: MeasureRoom;
  readonly signal: AbortSignal;
}

/** Writes a part of a file into another one, so that the rest does not cross the link. Throws as {@link writeMadeFile} does. */
export async function writeCut(job: CutJob): Promise<void> {
  const { storage, file, request, findings, room } = job;
  const path = cutPathOf(file, request.requestId);
  const expectedBytes = findings && expectSize(findings, request);
  let isDamaged = false;
  const onSkippedDamage = () => {
    isDamaged = true;
  };
  const pieces = (source: RandomAccessSource) => cutPieces(source, { ...job, onSkippedDamage });
  try {
    await writeMadeFile({ storage, file, path, room, expectedBytes, pieces });
  } catch (error) {
    if (!(error instanceof MadeEmptyError) || !isDamaged) throw error;
    throw new Error("what it holds of the part is damaged");
  }
}

type Cutting = Pick<CutJob, "file" | "request" | "signal"> & { readonly onSkippedDamage: () => void };

async function* cutPieces(
  source: RandomAccessSource,
  { file, request, signal, onSkippedDamage }: Cutting,
): AsyncGenerator<Uint8Array> {
  const found = await inspectRecording(source, { fileName: file.path, signal, limits: leanLimits });
  const known = "summary" in found ? identityWithoutKey(found.summary.metadata) : [];
  const { topics, start: startNs, end: endNs } = request;
  const metadata = [...known, provenanceOf(file, request)];
  yield* cutRecording(source, { fileName: file.path, topics, startNs, endNs, metadata, onSkippedDamage, signal });
}

/** The key stays with the whole recording. The last record of a name counts. */
function identityWithoutKey(records: readonly MetadataRecord[]): MetadataRecord[] {
  const { key, ...rest } = findIdentity(records);
  return key === undefined ? [] : [{ name: "downlink", metadata: rest as Record<string, string> }];
}

/** Says of which file and request the cut is. The control plane links them by it. */
function provenanceOf({ versionId, path, identity }: TrackedFile, request: WantedCut): MetadataRecord {
  const { requestId, topics, start, end } = request;
  const whole = { versionId, path, sizeBytes: `${identity.sizeBytes}`, modifiedAtNs: `${identity.mtimeNs}` };
  const part = { topics: JSON.stringify(topics), startNs: `${start}`, endNs: `${end}` };
  return { name: CUT_RECORD_NAME, metadata: { requestId, ...whole, ...part, agentVersion } };
}
