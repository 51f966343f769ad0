import type { Device } from "@downlink/protocol";

export interface FileCounts {
  readonly onDevice: number;
  readonly imported: number;
  /** Files with the content of another one that is imported. */
  readonly duplicate: number;
}

const HERE: ReadonlySet<string> = new Set(["imported", "duplicate"]);

/** Counts the files of a device by what matters to people; undefined while its agent has reported nothing. */
export function countFiles({ agent }: Pick<Device, "agent">): FileCounts | undefined {
  if (!agent?.status) return undefined;
  const sumOf = (keep: (state: string) => boolean) =>
    Object.entries(agent.status!.files).reduce((sum, [state, count]) => sum + (keep(state) ? count : 0), 0);
  return {
    onDevice: sumOf(() => true),
    imported: sumOf((state) => HERE.has(state)),
    duplicate: sumOf((state) => state === "duplicate"),
  };
}

/** Returns the rate of all uploads under way; undefined while the device is silent, because its last report is out of date. */
export function uploadRateOf({ agent }: Pick<Device, "agent">): number | undefined {
  if (!agent?.online) return undefined;
  return (agent.status?.transfers ?? []).reduce((sum, { bytesPerSecond }) => sum + bytesPerSecond, 0);
}

/** Returns the part of the disk that is used, between 0 and 1. */
export function diskUsed({ agent }: Pick<Device, "agent">): number | undefined {
  const { disk } = agent?.status ?? {};
  if (!disk || disk.totalBytes === 0) return undefined;
  return Math.min(1, Math.max(0, 1 - disk.freeBytes / disk.totalBytes));
}

export type Standing = "never" | "cloned" | "disabled" | "silent" | "troubled" | "well";

/** Returns the gravest standing that applies to a device. */
export function standingOf({ agent, enabled }: Pick<Device, "agent" | "enabled">): Standing {
  if (!agent) return "never";
  if (agent.cloned) return "cloned";
  if (!enabled) return "disabled";
  if (!agent.online) return "silent";
  return (agent.status?.problems.length ?? 0) > 0 ? "troubled" : "well";
}
