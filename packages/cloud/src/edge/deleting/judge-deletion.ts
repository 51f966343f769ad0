import type { DeletionReason, EdgeSettings, ImportStatus, PermitRefusal } from "@downlink/protocol";
import type { StoredDamage } from "../../import-life/stored-damage.ts";
import { isProofOld } from "../../import-life/stored-proof.ts";
import type { SafetyRule } from "../../recovery/known-backups.ts";

export interface Refusal {
  readonly code: PermitRefusal;
  readonly text: string;
  /** The server time from which it is worth asking again. */
  readonly notBefore?: bigint;
}

/** A refusal that ends once the stored bytes of this recording were read again. */
interface Verdict extends Refusal {
  readonly toReadId?: string;
}

interface ImportFacts {
  readonly id: string;
  readonly importStatus: ImportStatus;
  readonly importedAtNs: bigint | null;
  /** The hash that the cloud computed from the stored bytes. */
  readonly contentSha256: string | null;
  readonly blobKey: string | null;
  /** If the stored bytes are at a self-hosted site: their key there, and the site. */
  readonly siteObjectKey: string | null;
  readonly siteId: string | null;
  /** After a restore the stored bytes were not read again yet. */
  readonly isUnverified: boolean;
  readonly foundAgainAtNs: bigint | null;
  /** The damage of the stored bytes; null: none is known. */
  readonly storedDamage: StoredDamage | null;
  readonly verifiedAtNs: bigint | null;
}

/** Everything that decides whether one file may be deleted on its device; times are server time. */
export interface DeletionCase {
  readonly reason: DeletionReason;
  /** The hash of the file as it now is on the device. */
  readonly sha256: string | undefined;
  readonly firstReportedAtNs: bigint;
  /** Null if the file is no recording. */
  readonly recording: (ImportFacts & { readonly endNs: bigint }) | null;
  /** If the file was rejected as a duplicate: the recording of the same device that has its content. */
  readonly original: ImportFacts | null;
  readonly hasOpenRequest: boolean;
  readonly settings: Pick<EdgeSettings, "enabled" | "retainRecordingsSeconds" | "autoDeleteAfterImport">;
  /** Retention and auto-delete wait until then, because the control plane was restored; null: they do not. */
  readonly deletionHeldUntilNs: bigint | null;
  /** The keys of objects that the store, or the self-hosted site, had at this moment, with their size. */
  readonly soundObjects: ReadonlySet<string>;
  /** Self-hosted sites that prove nothing at this moment, by id. */
  readonly distrust: ReadonlyMap<string, { readonly text: string; readonly notBefore?: bigint }>;
  readonly safetyRule: SafetyRule;
  /** When an object of the store was last found damaged; null: never. */
  readonly damageSeenAtNs: bigint | null;
  readonly proofAgeNs: bigint;
  readonly nowNs: bigint;
}

/** Returns why the file must stay, or undefined if a rule allows its deletion. spec: edge agent §4 */
export function judgeDeletion(matter: DeletionCase): Verdict | undefined {
  const { reason, recording, settings, hasOpenRequest } = matter;
  if (!settings.enabled) return { code: "DeviceDisabled", text: "the device is disabled: nothing is deleted on it" };
  if (!recording) return { code: "NotARecording", text: "the file is no recording; only recordings are deleted" };
  const held = matter.original ?? recording;
  if (held.storedDamage !== null) return { code: "ImportNotComplete", text: describeDamage(held) };
  if (hasOpenRequest || recording.importStatus === "pending" || recording.importStatus === "importing")
    return { code: "OpenRequest", text: `an import of recording ${recording.id} is under way` };
  if (reason === "imported" && !settings.autoDeleteAfterImport)
    return { code: "SettingOff", text: "autoDeleteAfterImport is off" };
  const { deletionHeldUntilNs, nowNs } = matter;
  if (reason !== "prune" && deletionHeldUntilNs !== null && nowNs < deletionHeldUntilNs)
    return { code: "Suspended", text: restored, notBefore: deletionHeldUntilNs };
  if (reason === "retention") return judgeAge(matter, recording.endNs) ?? judgeHash(matter, recording);
  if (reason === "prune") return undefined;
  return judgeImport(matter, held);
}

function describeDamage({ id, storedDamage }: ImportFacts): string {
  return `the stored bytes of recording ${id} are ${storedDamage}: the file on the device may be the last that is whole`;
}

const restored = "the control plane was restored: its admin confirms that devices may delete, or a day passes";

function judgeAge({ settings, firstReportedAtNs, nowNs }: DeletionCase, endNs: bigint): Refusal | undefined {
  const { retainRecordingsSeconds } = settings;
  if (retainRecordingsSeconds === 0)
    return { code: "SettingOff", text: "retainRecordingsSeconds is 0: recordings are kept for ever" };
  const since = endNs > firstReportedAtNs ? endNs : firstReportedAtNs;
  const notBefore = since + BigInt(Math.ceil(retainRecordingsSeconds * 1e9));
  if (nowNs > notBefore) return undefined;
  const what = since === endNs ? "ended" : "was reported";
  return { code: "TooYoung", text: `it ${what} less than ${retainRecordingsSeconds} s ago`, notBefore };
}

/** A file that differs from its stored content is not the one that the cloud knows, so it must stay under every rule. */
function judgeHash({ sha256 }: DeletionCase, { contentSha256 }: { contentSha256: string | null }): Refusal | undefined {
  if (sha256 === undefined || contentSha256 === null || sha256 === contentSha256) return undefined;
  return { code: "HashDiffers", text: `the file has SHA-256 ${sha256}, the imported data ${contentSha256}` };
}

/** A duplicate is stored as the recording that it is a copy of. */
function judgeImport(matter: DeletionCase, recording: ImportFacts): Verdict | undefined {
  const { id, importStatus, importedAtNs, contentSha256, isUnverified } = recording;
  if (importStatus !== "complete" || contentSha256 === null || importedAtNs === null)
    return { code: "ImportNotComplete", text: `recording ${id} is not imported` };
  if (isUnverified)
    return { code: "ImportNotComplete", text: `the stored bytes of recording ${id} are read again after a restore` };
  const absent = judgeObject(matter, recording);
  if (absent) return absent;
  if (matter.sha256 === undefined)
    return { code: "HashDiffers", text: "the SHA-256 of the file on the device is needed" };
  const differing = judgeHash(matter, recording);
  if (differing) return differing;
  const { foundAgainAtNs } = recording;
  const storedSinceNs = foundAgainAtNs !== null && foundAgainAtNs > importedAtNs ? foundAgainAtNs : importedAtNs;
  return judgeSafety(matter, storedSinceNs) ?? judgeProof(matter, recording);
}

const READING_NS = 60_000_000_000n;

/** Data at a self-hosted site is proven by the site, which says at this moment that it has it. */
function judgeProof(matter: DeletionCase, recording: ImportFacts): Verdict | undefined {
  const { id, blobKey } = recording;
  if (blobKey === null || !isProofOld(recording, matter)) return undefined;
  const text = `the stored bytes of recording ${id} were not read for long, or not since others were found damaged; they are read now`;
  return { code: "SafetyPeriod", text, notBefore: matter.nowNs + READING_NS, toReadId: id };
}

/** The object is proven only by who has it, and at this moment. */
function judgeObject({ distrust, soundObjects }: DeletionCase, recording: ImportFacts): Refusal | undefined {
  const { id, blobKey, siteObjectKey, siteId } = recording;
  const doubt = siteObjectKey !== null && siteId !== null ? distrust.get(siteId) : undefined;
  if (doubt) return { code: "SafetyPeriod", ...doubt };
  const key = blobKey ?? siteObjectKey;
  if (key !== null && soundObjects.has(key)) return undefined;
  const text = `the stored bytes of recording ${id} are not there`;
  if (siteObjectKey === null) return { code: "ImportNotComplete", text };
  return { code: "ImportNotComplete", text: `${text}, or their self-hosted site did not answer` };
}

/** The control plane does not know when the next backup will be: then the agent asks again after a while. */
function judgeSafety({ safetyRule, nowNs }: DeletionCase, storedSinceNs: bigint): Refusal | undefined {
  if ("isInBackupBeforeNs" in safetyRule) {
    const { isInBackupBeforeNs } = safetyRule;
    if (isInBackupBeforeNs !== null && storedSinceNs < isInBackupBeforeNs) return undefined;
    return { code: "SafetyPeriod", text: "no backup of the control plane holds it yet" };
  }
  const notBefore = storedSinceNs + safetyRule.periodNs;
  if (nowNs >= notBefore) return undefined;
  return { code: "SafetyPeriod", text: "it was imported too short a time ago for this deployment", notBefore };
}
