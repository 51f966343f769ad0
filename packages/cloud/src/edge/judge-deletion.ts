import type { DeletionReason, EdgeSettings, ImportStatus, PermitRefusal } from "@downlink/protocol";

export interface Refusal {
  readonly code: PermitRefusal;
  readonly text: string;
  /** Server time, when it is worth asking again. */
  readonly notBefore?: bigint;
}

interface ImportFacts {
  readonly id: string;
  readonly importStatus: ImportStatus;
  readonly importedAtNs: bigint | null;
  /** Computed by the cloud from the stored bytes. */
  readonly contentSha256: string | null;
}

/** All that decides whether one file may be deleted on its device; times in server time. */
export interface DeletionCase {
  readonly reason: DeletionReason;
  /** The hash of the file as it is now on the device. */
  readonly sha256: string | undefined;
  readonly firstReportedAtNs: bigint;
  /** Null: the file is no recording. */
  readonly recording: (ImportFacts & { readonly endNs: bigint }) | null;
  /** The recording of the same device that has the content of a copy that was rejected as its duplicate. */
  readonly original: ImportFacts | null;
  readonly hasOpenRequest: boolean;
  readonly settings: Pick<EdgeSettings, "enabled" | "retainRecordingsSeconds" | "autoDeleteAfterImport">;
  /** A file stays on the device for so long after its import. */
  readonly safetyNs: bigint;
  readonly nowNs: bigint;
}

/** Why the file must stay; undefined where a rule allows that it goes. spec: edge agent §4 */
export function judgeDeletion(matter: DeletionCase): Refusal | undefined {
  const { reason, recording, settings, hasOpenRequest } = matter;
  if (!settings.enabled) return { code: "DeviceDisabled", text: "the device is disabled: nothing is deleted on it" };
  if (!recording) return { code: "NotARecording", text: "the file is no recording; only recordings are deleted" };
  if (hasOpenRequest || recording.importStatus === "pending" || recording.importStatus === "importing")
    return { code: "OpenRequest", text: `an import of recording ${recording.id} is under way` };
  if (reason === "imported" && !settings.autoDeleteAfterImport)
    return { code: "SettingOff", text: "autoDeleteAfterImport is off" };
  if (reason === "retention") return judgeAge(matter, recording.endNs) ?? judgeHash(matter, recording);
  if (reason === "prune") return undefined;
  return judgeImport(matter, matter.original ?? recording);
}

function judgeAge({ settings, firstReportedAtNs, nowNs }: DeletionCase, endNs: bigint): Refusal | undefined {
  const { retainRecordingsSeconds } = settings;
  if (retainRecordingsSeconds === 0)
    return { code: "SettingOff", text: "retainRecordingsSeconds is 0: recordings are kept for ever" };
  const since = endNs > firstReportedAtNs ? endNs : firstReportedAtNs;
  const notBefore = since + BigInt(Math.ceil(retainRecordingsSeconds * 1e9));
  if (nowNs > notBefore) return undefined;
  const what = since === endNs ? "ended" : "was told of";
  return { code: "TooYoung", text: `it ${what} less than ${retainRecordingsSeconds} s ago`, notBefore };
}

/** A file that differs from what is stored of it is not the one that the cloud knows, whatever the rule. */
function judgeHash({ sha256 }: DeletionCase, { contentSha256 }: { contentSha256: string | null }): Refusal | undefined {
  if (sha256 === undefined || contentSha256 === null || sha256 === contentSha256) return undefined;
  return { code: "HashDiffers", text: `the file has SHA-256 ${sha256}, the imported data ${contentSha256}` };
}

/** A duplicate is stored as the recording that it is a copy of. */
function judgeImport(matter: DeletionCase, recording: ImportFacts): Refusal | undefined {
  const { id, importStatus, importedAtNs, contentSha256 } = recording;
  if (importStatus !== "complete" || contentSha256 === null || importedAtNs === null)
    return { code: "ImportNotComplete", text: `recording ${id} is not imported` };
  if (matter.sha256 === undefined)
    return { code: "HashDiffers", text: "the SHA-256 of the file on the device is needed" };
  const differing = judgeHash(matter, recording);
  if (differing) return differing;
  const notBefore = importedAtNs + matter.safetyNs;
  if (matter.nowNs >= notBefore) return undefined;
  return { code: "SafetyPeriod", text: "it was imported too short a time ago for this deployment", notBefore };
}
