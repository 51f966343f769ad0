import { SALVAGE_RECORD_NAME } from "@downlink/protocol";
import { type Salvage, salvageRecording } from "@downlink/recordings";
import { salvagePathOf } from "../files/made-path.ts";
import type { Storage } from "../files/open-tracked.ts";
import type { Findings, TrackedFile } from "../inventory/tracked-file.ts";
import type { MeasureRoom } from "../making/measure-room.ts";
import { writeMadeFile } from "../making/write-made-file.ts";
import { agentVersion } from "../system/version.ts";

export interface SalvageJob {
  readonly storage: Storage;
  readonly file: TrackedFile;
  /** Why the file is no recording. */
  readonly reason: Findings["reason"];
  readonly room: MeasureRoom;
  readonly signal: AbortSignal;
}

/** Writes what is readable of a file into another one, so that unreadable bytes do not cross the link. Throws as {@link writeMadeFile} does. */
export async function writeSalvage(job: SalvageJob): Promise<void> {
  const { storage, file, room, signal } = job;
  const describe = (salvage: Salvage) => provenanceOf(job, salvage);
  await writeMadeFile({
    ...{ storage, file, room, path: salvagePathOf(file) },
    pieces: (source) => salvageRecording(source, { fileName: file.path, describe, signal }),
  });
}

/** Says from which file the salvage is, and what was lost. The control plane links the two by it. */
function provenanceOf({ file, reason }: SalvageJob, { lostBytes, damage }: Salvage) {
  const { versionId, path, identity } = file;
  const facts = { versionId, path, sizeBytes: `${identity.sizeBytes}`, modifiedAtNs: `${identity.mtimeNs}` };
  const why = { reasonCode: reason?.code ?? "", reason: reason?.text ?? "" };
  const lost = { lostBytes: `${lostBytes}`, ...(damage && { damage: JSON.stringify(damage) }) };
  return { name: SALVAGE_RECORD_NAME, metadata: { ...facts, ...lost, ...why, agentVersion } };
}
