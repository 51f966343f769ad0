import type { DeletionReason } from "@downlink/protocol";
import type { FileState } from "../inventory/file-state.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { countLinks, nameCheck, sumBytes } from "./disk-usage.ts";

export type PlannedFile = Pick<TrackedFile, "versionId" | "state" | "identity" | "endNs">;

export interface DeletionPolicy {
  /** The setting of the cloud; with 0, recordings are kept for ever. */
  readonly retainSeconds: number;
  readonly deletesImported: boolean;
  readonly isEnabled: boolean;
  /** The quota that the operator sets. */
  readonly maxDiskBytes: number | undefined;
  readonly minFreeBytes: number | undefined;
  readonly prunesUnimported: boolean;
}

export interface DeletionSituation {
  readonly files: readonly PlannedFile[];
  readonly policy: DeletionPolicy;
  /** The free space of the file system; undefined while it is not known. */
  readonly freeBytes: number | undefined;
  /** With `unsure` the cloud did not answer lately, and not long enough ago to count as offline. */
  readonly reach: "connected" | "unsure" | "offline";
  readonly serverNowNs: bigint | undefined;
  /** The retention was shortened or a clock jumped a short time ago. */
  readonly isRetentionHeld: boolean;
  /** False where the cloud or the file system refused this deletion a short time ago. */
  readonly isWorthTrying: (versionId: string, reason: DeletionReason) => boolean;
  /** Whether the file is known to have another name somewhere: then deleting it frees nothing. */
  readonly isLinked: (versionId: string) => boolean;
}

export interface DeletionStep {
  readonly versionId: string;
  readonly reason: DeletionReason;
  readonly sizeBytes: number;
}

/** Returns whether the cloud permits the step only where the file has exactly the bytes that the cloud has. */
export function needsProof({ reason }: Pick<DeletionStep, "reason">): boolean {
  return reason === "imported" || reason === "space";
}

/** Returns whether a disk limit of the operator asks for the step. */
export function isForLimit({ reason }: Pick<DeletionStep, "reason">): boolean {
  return reason === "space" || reason === "prune";
}

export interface DeletionPlan {
  /** The deletions, in the order in which to do them. */
  readonly steps: readonly DeletionStep[];
  /** How much the quotas ask for, and how much of it no step frees. */
  readonly neededBytes: number;
  readonly missingBytes: number;
}

/**
 * Plans which files to delete now, and under which rule. The plan proves nothing: the cloud permits or refuses each step, except for an
 * agent that is cut off. It is made again from all files each time, so that it cannot get out of date. spec: edge agent §4
 */
export function planDeletions(situation: DeletionSituation): DeletionPlan {
  const byRule = planByRule(situation);
  const { maxDiskBytes, minFreeBytes } = situation.policy;
  const hasQuota = maxDiskBytes !== undefined || minFreeBytes !== undefined;
  const { chosen, neededBytes } = hasQuota ? planForQuota(situation, byRule) : { chosen: [], neededBytes: 0 };
  const gainedBytes = chosen.reduce((sum, { file }) => sum + file.identity.sizeBytes, 0);
  return {
    steps: [...byRule, ...chosen].map(toStep),
    neededBytes,
    missingBytes: Math.max(0, neededBytes - gainedBytes),
  };
}

interface Choice {
  readonly file: PlannedFile;
  readonly reason: DeletionReason;
}

function toStep({ file, reason }: Choice): DeletionStep {
  return { versionId: file.versionId, reason, sizeBytes: file.identity.sizeBytes };
}

/** Plans what the cloud's settings ask for, which only the cloud can permit. */
function planByRule(situation: DeletionSituation): Choice[] {
  const { files, policy, reach, serverNowNs, isRetentionHeld, isWorthTrying } = situation;
  if (reach !== "connected" || !policy.isEnabled) return [];
  const isRetaining = policy.retainSeconds > 0 && !isRetentionHeld && serverNowNs !== undefined;
  const oldestNs = isRetaining ? serverNowNs - BigInt(Math.ceil(policy.retainSeconds * 1e9)) : undefined;
  if (!policy.deletesImported && oldestNs === undefined) return [];
  // Removing one name changes the ctime of the content: an upload under another name would have to read it again.
  const isUnderWay = nameCheck(files.filter(({ state }) => underWay.has(state)));
  const ruleFor = ({ versionId, state, endNs, identity }: PlannedFile): DeletionReason | undefined => {
    if (isUnderWay(identity)) return undefined;
    const isImported = isStored(state);
    if (isImported && policy.deletesImported && isWorthTrying(versionId, "imported")) return "imported";
    const isOld = oldestNs !== undefined && endNs !== undefined && endNs < oldestNs;
    const isDeletable = isOld && (isImported || isUnimported(state));
    return isDeletable && isWorthTrying(versionId, "retention") ? "retention" : undefined;
  };
  return choose(files, ruleFor);
}

const underWay: ReadonlySet<FileState> = new Set(["seen", "settling", "requested", "uploading", "stored"]);

/** Chooses the files with a reason. It is a loop, because `flatMap` takes ten times as long over 100,000 files. */
function choose(files: readonly PlannedFile[], reasonFor: (file: PlannedFile) => DeletionReason | undefined): Choice[] {
  const chosen: Choice[] = [];
  for (const file of files) {
    const reason = reasonFor(file);
    if (reason) chosen.push({ file, reason });
  }
  return chosen;
}

/** The cloud stores the content, as this recording or as the one of which it is a copy. */
function isStored(state: FileState): boolean {
  return state === "imported" || state === "duplicate";
}

/** The file was reported, and no import of it is requested or under way. */
function isUnimported(state: FileState): boolean {
  return state === "reported" || state === "failed";
}

function planForQuota(situation: DeletionSituation, byRule: readonly Choice[]) {
  const takenIds = new Set(byRule.map(({ file }) => file.versionId));
  const left = situation.files.filter(({ versionId }) => !takenIds.has(versionId));
  const neededBytes = neededSpace(situation, left);
  return { chosen: neededBytes > 0 ? planForSpace(situation, left, neededBytes) : [], neededBytes };
}

/** Returns the bytes that the quotas still ask for when only `left` is left. */
function neededSpace({ files, policy, freeBytes, isLinked }: DeletionSituation, left: readonly PlannedFile[]): number {
  const { maxDiskBytes, minFreeBytes } = policy;
  const overBytes = maxDiskBytes === undefined ? 0 : sumBytes(left) - maxDiskBytes;
  if (minFreeBytes === undefined || freeBytes === undefined) return Math.max(0, overBytes);
  const isOnlyName = ({ versionId }: PlannedFile) => !isLinked(versionId);
  const soonFreeBytes = sumBytes(files.filter(isOnlyName)) - sumBytes(left.filter(isOnlyName));
  return Math.max(0, overBytes, minFreeBytes - freeBytes - soonFreeBytes);
}

/** Takes imported files first, and the oldest of each kind first, until the quotas hold. */
function planForSpace(situation: DeletionSituation, left: readonly PlannedFile[], neededBytes: number): Choice[] {
  const links = countLinks(situation.files);
  const candidates = choose(left, (file) => {
    const reason = spaceReason(file, situation);
    const isFreeing = links.of(file.identity) === 1 && !situation.isLinked(file.versionId);
    if (!reason || !isFreeing || file.identity.sizeBytes === 0) return undefined;
    return situation.isWorthTrying(file.versionId, reason) ? reason : undefined;
  });
  const chosen: Choice[] = [];
  let gainedBytes = 0;
  for (const choice of sortByUrgency(candidates)) {
    if (gainedBytes >= neededBytes) break;
    chosen.push(choice);
    gainedBytes += choice.file.identity.sizeBytes;
  }
  return chosen;
}

function spaceReason(
  { state, endNs }: PlannedFile,
  { policy, reach }: DeletionSituation,
): "space" | "prune" | undefined {
  const isCutOff = reach === "offline" && policy.prunesUnimported;
  const isPermitted = reach === "connected" && policy.isEnabled;
  if (endNs === undefined || !(isCutOff || isPermitted)) return undefined;
  if (isStored(state)) return "space";
  // A file that was never reported soon will be, unless the agent is cut off.
  const isLeft = isUnimported(state) || (state === "indexed" && isCutOff);
  return isLeft && policy.prunesUnimported ? "prune" : undefined;
}

function sortByUrgency(choices: readonly Choice[]): Choice[] {
  const ranked = choices.map((choice) => ({ choice, endNs: Number(choice.file.endNs) }));
  const sorted = ranked.sort((a, b) => a.endNs - b.endNs).map(({ choice }) => choice);
  const imported = sorted.filter(({ reason }) => reason === "space");
  return [...imported, ...sorted.filter(({ reason }) => reason === "prune")];
}
