import { RecordingLocation } from "@downlink/protocol";
import { type Complete, toComplete } from "../../core/complete.ts";

/** Returns where the file of a recording lies if that is a customer's bucket. It stays while the bucket does not have the object. */
export function readLocation(location: string | null): Complete<RecordingLocation> | undefined {
  return location === null ? undefined : toComplete(RecordingLocation.parse(JSON.parse(location)));
}
