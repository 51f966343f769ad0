import type { CallInput, episodes, Recording, RecordingFilter } from "@downlink/protocol";

export type EpisodeRequest = CallInput<typeof episodes.getOrCreate>["episodes"][number];

/** Returns a recording as an episode: as it is, or the part of it that lies in a span. */
export function toSlice(
  { id, start, end }: Pick<Recording, "id" | "start" | "end">,
  within: { readonly startNs: bigint; readonly endNs: bigint } | undefined,
): EpisodeRequest {
  if (!within || (within.startNs <= start && end <= within.endNs)) return { recordings: [id] };
  const [startTime, endTime] = [
    start > within.startNs ? start : within.startNs,
    end < within.endNs ? end : within.endNs,
  ];
  return { recordings: [id], startTime, endTime };
}

/** Returns the places in the request of events that cannot be made an episode of. */
export function refusedPlaces(details: readonly { readonly path: string }[]): ReadonlySet<number> {
  return new Set(details.flatMap(({ path }) => /^episodes\.(\d+)\.eventId$/.exec(path)?.[1] ?? []).map(Number));
}

/** Narrows a filter to imported recordings; undefined where it lets none through. */
export function importedOf(filter: RecordingFilter) {
  if (filter.importStatus && !filter.importStatus.includes("complete")) return undefined;
  return { ...filter, importStatus: ["complete" as const], sortBy: "start" as const };
}
