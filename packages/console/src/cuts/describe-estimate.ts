import type { ImportEstimate } from "@downlink/protocol";
import { formatBytes, formatMany } from "../parts/bytes.ts";
import { formatDuration } from "../time/format-time.ts";
import type { PlannedPart } from "./plan-parts.ts";

/** The cost of some parts, all together. */
export interface EstimateSum {
  readonly bytes: number;
  readonly messageCount: number;
  readonly isRough: boolean;
  /** Undefined where the rate of a device is not known. */
  readonly seconds: number | undefined;
}

/** Adds up estimates. Each device sends its parts one after another, and all devices do so at the same time. */
export function sumEstimates(parts: readonly PlannedPart[], estimates: readonly ImportEstimate[]): EstimateSum {
  const secondsOf = new Map<string, number>();
  let [bytes, messageCount, isRough, isKnown] = [0, 0, false, true];
  for (const [index, { whole }] of parts.entries()) {
    const estimate = estimates[index]!;
    bytes += estimate.bytes;
    messageCount += estimate.messageCount;
    isRough ||= estimate.isRough;
    isKnown &&= estimate.seconds !== undefined || estimate.messageCount === 0;
    const device = whole.device?.id ?? "";
    secondsOf.set(device, (secondsOf.get(device) ?? 0) + (estimate.seconds ?? 0));
  }
  return { bytes, messageCount, isRough, seconds: isKnown ? Math.max(0, ...secondsOf.values()) : undefined };
}

const NS_PER_SECOND = 1_000_000_000n;

/** Says what is asked for, how much that is, and how long it takes: `40 s of 4 topics, about 12 MB, 50 s at the device's last rate`. */
export function describeEstimate(parts: readonly PlannedPart[], sum: EstimateSum): string {
  if (sum.messageCount === 0) return "Nothing to send: all of it is here, or on its way.";
  const { bytes, isRough, seconds } = sum;
  const time = seconds === undefined ? "" : `, ${describeSeconds(seconds)} at ${rateOf(parts)}`;
  const doubt = isRough ? " This is a rough estimate, because the sizes of the topics are not known." : "";
  return `${describeParts(parts)}, about ${formatBytes(bytes)}${time}.${doubt}`;
}

function describeParts(parts: readonly PlannedPart[]): string {
  const lengthNs = parts.reduce((sum, { startNs, endNs }) => sum + endNs - startNs, 0n);
  const topics = new Set(parts.flatMap((part) => part.topics)).size;
  const where = parts.length > 1 ? ` in ${formatMany(parts.length, "recording")}` : "";
  return `${formatDuration(lengthNs)} of ${formatMany(topics, "topic")}${where}`;
}

function describeSeconds(seconds: number): string {
  return formatDuration(BigInt(Math.ceil(seconds)) * NS_PER_SECOND);
}

function rateOf(parts: readonly PlannedPart[]): string {
  const devices = new Set(parts.map(({ whole }) => whole.device?.id));
  return devices.size > 1 ? "the devices' last rates" : "the device's last rate";
}

/** Says which recordings are not cut; empty where all are. */
export function describeOthers(parts: readonly PlannedPart[], unknown: number): string {
  const whole = parts.filter(({ isWhole }) => isWhole).length;
  return [
    ...(whole > 0 ? [describeWhole(whole, parts.length)] : []),
    ...(unknown > 0
      ? [
          `The topics of ${formatMany(unknown, "recording")} are not known: import ${unknown === 1 ? "it" : "them"} whole.`,
        ]
      : []),
  ].join(" ");
}

function describeWhole(whole: number, all: number): string {
  if (all === 1) return "This is all of the recording, which is imported whole.";
  return whole === 1
    ? "One recording is imported whole, because all of it is wanted."
    : `${formatMany(whole, "recording")} are imported whole, because all of them is wanted.`;
}
