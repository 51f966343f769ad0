import type { QueuedImport } from "@downlink/protocol";

export interface QueueGroup {
  readonly key: string;
  /** The name of the device, or of the edge site whose agent has files of no device. */
  readonly name: string;
  readonly isDevice: boolean;
  readonly entries: readonly QueuedImport[];
  readonly bytes: number;
  readonly bytesLeft: number;
  readonly bytesPerSecond: number;
  /** How long the rest takes at the rate of this moment; undefined while nothing moves. */
  readonly secondsLeft: number | undefined;
  /** The reason for which all of them wait, if it is the same. Files that wait only for others before them do not count. */
  readonly waitsFor: QueuedImport["waitsFor"];
}

/** Groups waiting imports by the device that is to send them, in the order in which the first of each comes. */
export function groupQueue(entries: readonly QueuedImport[]): QueueGroup[] {
  const groups = Map.groupBy(entries, ({ device, edgeSite }) => device?.id ?? edgeSite?.id ?? "");
  return [...groups].map(([key, members]) => describe(key, members));
}

function describe(key: string, entries: readonly QueuedImport[]): QueueGroup {
  const [{ device, edgeSite }] = entries as readonly [QueuedImport];
  const bytesLeft = sum(entries.map(({ size = 0, bytesReceived }) => Math.max(0, size - bytesReceived)));
  const bytesPerSecond = sum(entries.map((entry) => (entry.state === "uploading" ? (entry.bytesPerSecond ?? 0) : 0)));
  return {
    key,
    name: device?.name ?? edgeSite?.name ?? "a device that is not there any more",
    isDevice: device !== undefined,
    entries,
    bytes: sum(entries.map(({ size = 0 }) => size)),
    bytesLeft,
    bytesPerSecond,
    secondsLeft: bytesPerSecond > 0 ? bytesLeft / bytesPerSecond : undefined,
    waitsFor: commonReason(entries),
  };
}

function commonReason(entries: readonly QueuedImport[]): QueuedImport["waitsFor"] {
  if (entries.some(({ state }) => state === "uploading")) return undefined;
  const reasons = entries.flatMap(({ waitsFor }) => waitsFor ?? []).filter(({ code }) => code !== "BehindOthers");
  const [first, ...others] = reasons;
  return others.every(({ code, text }) => code === first?.code && text === first.text) ? first : undefined;
}

/** Returns the part of a file that is here, between 0 and 1; undefined while its size is not known. */
export function shareReceived({ size, bytesReceived }: Pick<QueuedImport, "size" | "bytesReceived">) {
  return size ? Math.min(1, bytesReceived / size) : undefined;
}

/** Keeps the imports that wait for one reason. */
export function withReason(entries: readonly QueuedImport[], code: string): readonly QueuedImport[] {
  return code === "" ? entries : entries.filter(({ waitsFor }) => waitsFor?.code === code);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
