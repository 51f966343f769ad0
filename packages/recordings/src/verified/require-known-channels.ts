import { type Reason, RecordingError } from "../faults/reasons.ts";
import { type Channel, extendSpan, holdsSchemaOf, type Survey } from "../survey/survey.ts";
import { trusts } from "../survey/trust.ts";
import { describeUnknown, noteUnknown } from "./unknown-channels.ts";
import type { Verifying } from "./verifying.ts";

/**
 * Gives the channels whose schema is not in the file no schema, and notes that. Only a salvage has
 * such channels.
 */
function settleSchemas({ survey, damage }: Verifying): void {
  for (const [id, channel] of survey.channels) {
    if (holdsSchemaOf(survey, channel) || survey.leftOut.schemas.has(channel.schemaId)) continue;
    const settled = { ...channel, schemaId: 0 };
    survey.channels.set(id, settled);
    survey.doubts.set(settled, survey.doubts.get(channel) ?? trusts.proven);
    const text = `channel ${id} ("${channel.topic}") names schema ${channel.schemaId}, which is not in the file; its messages are given without`;
    damage.addSummary(0, { code: "BadRecord", text });
  }
}

/**
 * To be called when everything was read. Throws if there are messages of channels that nothing introduces; a salvage notes them, and also
 * those whose channel or schema stands only in what a checksum refutes or makes no sense.
 */
export function requireKnownChannels(verifying: Verifying): void {
  const { survey, isSalvage, damage } = verifying;
  settleSchemas(verifying);
  for (const [id, { messageCount }] of survey.tallies) {
    const channel = survey.channels.get(id);
    if (channel && isRefuted(channel, survey)) damage.addGuessed(describeGuessed(channel, messageCount), messageCount);
    if (channel) continue;
    if (!isSalvage) throw new RecordingError("BadRecord", describeUnknown(id, messageCount));
    noteUnknown(damage, id, messageCount);
    survey.tallies.delete(id);
    respan(survey);
  }
}

/** The times of messages that are left out are not those of the recording. A channel beyond the limits has its times in the span alone. */
function respan(survey: Survey): void {
  if (survey.leftOut.messageCount > 0) return;
  delete survey.startNs;
  delete survey.endNs;
  for (const { startNs, endNs } of survey.tallies.values())
    if (startNs !== undefined && endNs !== undefined) extendSpan(survey, startNs, endNs);
}

function isRefuted(channel: Channel, { doubts, schemas }: Survey): boolean {
  const schema = schemas.get(channel.schemaId);
  return doubts.get(channel) === trusts.refuted || (schema !== undefined && doubts.get(schema) === trusts.refuted);
}

function describeGuessed({ id, topic }: Channel, messageCount: number): Reason {
  const text = `${messageCount} messages are of channel ${id} ("${topic}"), which or whose schema stands only in damaged bytes`;
  return { code: "BadRecord", text };
}
