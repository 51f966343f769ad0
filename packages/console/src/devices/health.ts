import type { Device } from "@downlink/protocol";
import { formatAge, formatDuration } from "../time/format-time.ts";
import { countFiles, type Standing, standingOf } from "./device-facts.ts";

export function healthSentence(device: Pick<Device, "agent" | "enabled">, nowMs: number): string {
  return SENTENCES[standingOf(device)](device, nowMs);
}

type Say = (device: Pick<Device, "agent" | "enabled">, nowMs: number) => string;

const SENTENCES: Readonly<Record<Standing, Say>> = {
  never: () => "No agent of this device has ever connected.",
  cloned: () => "Two agents work with copies of one state, and none of them is served.",
  disabled: () => "The device is disabled: it lists its files, but nothing is uploaded.",
  silent: ({ agent }, nowMs) => `Silent: its agent last made contact ${formatAge(agent!.lastSeenAt, nowMs)}.`,
  troubled: ({ agent }) => {
    const problems = agent!.status!.problems;
    return problems.length === 1 ? "Online, with one problem." : `Online, with ${problems.length} problems.`;
  },
  well: (device) => `Online, without problems${restText(device)}.`,
};

function restText(device: Pick<Device, "agent">): string {
  const counts = countFiles(device);
  const { throttle } = device.agent?.status ?? {};
  if (throttle) return `; uploads are held back: ${throttle.reason}`;
  if (!counts || counts.onDevice === 0) return "; it has no files";
  return counts.imported === counts.onDevice ? "; everything on it is imported" : "";
}

/** Clocks that differ by less do no harm: the service knows the difference and takes its own time where it matters. */
const NOTABLE_SKEW_MS = 2000;

/** Says how the clock of a device differs, if that is worth a word. */
export function skewText(clockSkewMs: number | undefined): string | undefined {
  if (clockSkewMs === undefined || Math.abs(clockSkewMs) < NOTABLE_SKEW_MS) return undefined;
  const by = formatDuration(BigInt(Math.abs(clockSkewMs)) * 1_000_000n);
  return `${by} ${clockSkewMs > 0 ? "fast" : "slow"}`;
}
