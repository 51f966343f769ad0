import { RecordingError } from "../faults/reasons.ts";
import { holdsSchemaOf } from "../survey/survey.ts";
import { describeUnknown, noteUnknown } from "./unknown-channels.ts";
import type { Verifying } from "./verifying.ts";

/**
 * Gives the channels whose schema is not in the file no schema, and notes that. Only a salvage has
 * such channels.
 */
function settleSchemas({ survey, damage }: Verifying): void {
  for (const [id, channel] of survey.channels) {
    if (holdsSchemaOf(survey, channel) || survey.leftOut.schemas.has(channel.schemaId)) continue;
    survey.channels.set(id, { ...channel, schemaId: 0 });
    const text = `channel ${id} ("${channel.topic}") names schema ${channel.schemaId}, which is not in the file; its messages are given without`;
    damage.addSummary(0, { code: "BadRecord", text });
  }
}

/** To be called when everything was read. Throws if there are messages of channels that nothing introduces; a salvage notes them. */
export function requireKnownChannels(verifying: Verifying): void {
  const { survey, isSalvage, damage } = verifying;
  settleSchemas(verifying);
  for (const [id, { messageCount }] of survey.tallies) {
    if (survey.channels.has(id)) continue;
    if (!isSalvage) throw new RecordingError("BadRecord", describeUnknown(id, messageCount));
    noteUnknown(damage, id, messageCount);
  }
}
