import { type Recording, recordings } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";

/** Long recordings that began before may stand between one and the next. */
const LOOKED = 20;

/** Shows the recordings of the same device before and after one. */
export function useNeighbours(recording: Recording): { before: Recording | undefined; after: Recording | undefined } {
  const { device, start, projectId } = recording;
  const isEnabled = device !== undefined;
  const shared = { deviceId: device?.id, projectId, sortBy: "start", limit: LOOKED } as const;
  const earlier = useQuery(recordings.list, { ...shared, end: start, sortOrder: "desc" }, { isEnabled });
  const later = useQuery(recordings.list, { ...shared, start, sortOrder: "asc" }, { isEnabled });
  return {
    before: earlier.data?.find((one) => isBefore(one, recording)),
    after: later.data?.find((one) => isBefore(recording, one)),
  };
}

/** Returns whether one comes before the other. Recordings with the same start are in the order of their ids. */
export function isBefore(one: Pick<Recording, "id" | "start">, other: Pick<Recording, "id" | "start">): boolean {
  return one.start === other.start ? one.id < other.id : one.start < other.start;
}
