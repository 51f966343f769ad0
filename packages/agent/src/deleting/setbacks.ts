import type { DeletionReason, PermitRefusal } from "@downlink/protocol";
import type { Clock } from "../system/clock.ts";

/** Why a deletion failed: a code of the cloud's refusals, or what happened here. */
export type SetbackCode = PermitRefusal | "FileMoved" | "FileSystem" | "OtherName";

export interface Setback {
  readonly code: SetbackCode;
  readonly text: string;
}

/** Files that may not be deleted yet; `text` is undefined if there are none. */
export interface Waiting {
  readonly files: number;
  readonly text: string | undefined;
}

/** Remembers failed deletions, so that they are not tried again at once. It is in memory only: after a restart all are tried again. */
export interface Setbacks {
  /** Notes a failed deletion. It is tried again after `restMs`, or after a rest that grows each time. */
  note(about: { versionId: string; reason: DeletionReason; path: string }, setback: Setback, restMs?: number): void;
  isWorthTrying(versionId: string, reason: DeletionReason): boolean;
  isLinked(versionId: string): boolean;
  /** The text of the first setback with the code that still holds, with the path of its file. */
  find(code: SetbackCode): string | undefined;
  countByCode(): ReadonlyMap<SetbackCode, number>;
  /** The imported files that the device's rule wants to delete and that the cloud still needs; `text` is its reason. */
  awaitingSafety(): Waiting;
  /** Drops setbacks of versions that are gone, and with `settingsChanged` those that depended on the settings. */
  forget(isKnown: (versionId: string) => boolean, settingsChanged: boolean): void;
}

interface Memory extends Setback {
  readonly versionId: string;
  readonly reason: DeletionReason;
  readonly path: string;
  readonly count: number;
  readonly untilMs: number;
}

const FIRST_REST_MS = 60_000;
const LONGEST_REST_MS = 3_600_000;
const forSpace: readonly DeletionReason[] = ["space", "prune"];
const bySettings: readonly SetbackCode[] = ["SettingOff", "DeviceDisabled", "TooYoung", "SafetyPeriod"];

export function createSetbacks(clock: Pick<Clock, "uptimeMs">): Setbacks {
  const memories = new Map<string, Memory>();
  const keyOf = (versionId: string, reason: DeletionReason) => `${versionId} ${reason}`;
  return {
    note({ versionId, reason, path }, setback, restMs) {
      const count = (memories.get(keyOf(versionId, reason))?.count ?? 0) + 1;
      const growingMs = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** (count - 1));
      const untilMs = clock.uptimeMs() + (restMs ?? growingMs);
      memories.set(keyOf(versionId, reason), { ...setback, versionId, reason, path, count, untilMs });
    },
    isWorthTrying: (versionId, reason) =>
      memories.size === 0 || (memories.get(keyOf(versionId, reason))?.untilMs ?? 0) <= clock.uptimeMs(),
    // A link that is made or removed changes the file's ctime, and with it the version.
    isLinked: (versionId) =>
      memories.size > 0 && forSpace.some((reason) => memories.get(keyOf(versionId, reason))?.code === "OtherName"),
    find(code) {
      const memory = memories.values().find((one) => one.code === code);
      return memory && `${memory.path}: ${memory.text}`;
    },
    countByCode() {
      const counts = new Map<SetbackCode, number>();
      for (const { code } of memories.values()) counts.set(code, (counts.get(code) ?? 0) + 1);
      return counts;
    },
    awaitingSafety() {
      const isWaiting = ({ code, reason }: Memory) => code === "SafetyPeriod" && reason === "imported";
      const waiting = memories.values().filter(isWaiting).toArray();
      return { files: waiting.length, text: waiting[0]?.text };
    },
    forget(isKnown, settingsChanged) {
      for (const [key, { versionId, code }] of memories) {
        if (!isKnown(versionId) || (settingsChanged && bySettings.includes(code))) memories.delete(key);
      }
    },
  };
}
