import { RecordingError } from "../faults/reasons.ts";
import { describeUnknown, noteUnknown } from "./unknown-channels.ts";
import type { Verifying } from "./verifying.ts";

/** To be called when everything was read. Throws if there are messages of channels that nothing introduces; a salvage notes them. */
export function requireKnownChannels({ survey, isSalvage, damage }: Verifying): void {
  for (const [id, { messageCount }] of survey.tallies) {
    if (survey.channels.has(id)) continue;
    if (!isSalvage) throw new RecordingError("BadRecord", describeUnknown(id, messageCount));
    noteUnknown(damage, id, messageCount);
  }
}
