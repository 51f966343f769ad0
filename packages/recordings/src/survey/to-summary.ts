import { createHash } from "node:crypto";
import { sha256OfSchema } from "./alike.ts";
import type {
  LeftOutCounts,
  MetadataRecord,
  RecordingFormatName,
  RecordingIdentity,
  RecordingSummary,
  TopicActivity,
  TopicSummary,
} from "./summary.ts";
import { type Channel, countMessages, extendSpan, type Schema, type Survey } from "./survey.ts";

interface About {
  readonly format: RecordingFormatName;
  readonly sizeBytes: number;
  readonly method: RecordingSummary["method"];
  /** Present if every message was read. */
  readonly activityOf?: ActivityOf;
}

/** Answers the activity of the channels that make up one topic. Both times are those of the recording. */
type ActivityOf = (channelIds: readonly number[], startNs: bigint, endNs: bigint) => TopicActivity;

export function toSummary(survey: Survey, { activityOf, ...about }: About): RecordingSummary {
  return {
    ...about,
    messageCount: countMessages(survey),
    startNs: survey.startNs,
    endNs: survey.endNs,
    ...spansOf(survey),
    topics: toTopics(survey, { isRead: about.method === "scan", activityOf }),
    attachments: survey.attachments,
    metadata: survey.metadata,
    identity: findIdentity(survey.metadata),
    profile: survey.profile || undefined,
    library: survey.library || undefined,
    ...leftOutOf(survey),
  };
}

/** A summary may claim a longer time than its chunks have: then it is not known when the messages are. */
function spansOf({ spans: notes, startNs, endNs }: Survey): Pick<RecordingSummary, "spans"> {
  const spans = notes.toSpans();
  const isAll = spans[0]?.startNs === startNs && spans.at(-1)?.endNs === endNs;
  return isAll && spans.length > 1 ? { spans } : {};
}

function leftOutOf({ leftOut }: Survey): { leftOut?: LeftOutCounts } {
  const { channels, attachments, metadata, chunks } = leftOut;
  const isAny = channels.size + attachments + metadata + chunks > 0;
  return isAny ? { leftOut: { channels: channels.size, attachments, metadata, chunks } } : {};
}

/** The topics in the order in which the file introduces them. */
function toTopics(
  survey: Survey,
  { isRead, activityOf }: { isRead: boolean; activityOf: ActivityOf | undefined },
): TopicSummary[] {
  const topics = new Map<string, TopicSummary>();
  const channelsOf = new Map<TopicSummary, Channel[]>();
  const sha256Of = hashOnce();
  for (const channel of survey.channels.values()) {
    const fresh = toTopic(channel, survey.schemas.get(channel.schemaId) ?? noSchema, sha256Of);
    const key = `${fresh.version} ${fresh.topic}`;
    const topic = topics.get(key) ?? fresh;
    topics.set(key, topic);
    const tally = survey.tallies.get(channel.id);
    if (!tally) continue;
    if (tally.messageCount > 0) channelsOf.set(topic, [...(channelsOf.get(topic) ?? []), channel]);
    topic.messageCount += tally.messageCount;
    if (tally.startNs !== undefined && tally.endNs !== undefined) extendSpan(topic, tally.startNs, tally.endNs);
  }
  const { startNs = 0n, endNs = 0n } = survey;
  for (const [topic, channels] of channelsOf) {
    if (isRead) topic.channelsKey = versionOf(channels.map(keyOfChannel).sort());
    const ids = channels.map(({ id }) => id);
    Object.assign(topic, activityOf?.(ids, startNs, endNs));
  }
  return [...topics.values()];
}

/** Names a channel among those that have topic, encoding and schema in common. */
function keyOfChannel({ metadata }: Channel): string {
  return JSON.stringify(Object.entries(metadata).sort());
}

const noSchema: Schema = { id: 0, name: "", encoding: "", data: new Uint8Array(0) };

/** Hashes each schema once, because 65,535 channels may share one schema of 16 MiB. */
function hashOnce(): (schema: Schema) => string {
  const known = new Map<Schema, string>();
  return (schema) => {
    const sha256 = known.get(schema) ?? sha256OfSchema(schema);
    known.set(schema, sha256);
    return sha256;
  };
}

function toTopic(channel: Channel, schema: Schema, sha256Of: (schema: Schema) => string): TopicSummary {
  const { name, encoding, data, sha256 } = schema;
  const schemaSha256 = sha256Of(schema);
  return {
    topic: channel.topic,
    messageEncoding: channel.messageEncoding,
    schemaName: name,
    schemaEncoding: encoding,
    schema: data,
    schemaSha256,
    ...(sha256 !== undefined && { isSchemaLeftOut: true }),
    version: versionOf([channel.messageEncoding, name, encoding, schemaSha256]),
    messageCount: 0,
  };
}

/** Lengths are hashed too, so that no two different lists of parts look the same. */
function versionOf(parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("hex").slice(0, 16);
}

/** The last record named `downlink` or `foxglove` counts, as a whole. spec: wire contract §4 */
export function findIdentity(metadata: readonly MetadataRecord[]): RecordingIdentity {
  const record = metadata.findLast(({ name }) => name === "downlink" || name === "foxglove");
  const identity: { -readonly [K in keyof RecordingIdentity]: RecordingIdentity[K] } = {};
  for (const key of identityKeys) {
    const value = record?.metadata[key];
    if (value) identity[key] = value;
  }
  return identity;
}

const identityKeys = ["deviceId", "deviceName", "projectId", "key", "sessionKey"] as const;
