import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { deprecate } from "../shapes/deprecate.ts";
import { withAliases } from "../shapes/query.ts";
import type { ExportFormat } from "../shapes/recording-formats.ts";
import { inProject } from "../shapes/selectors.ts";
import { DataDamage, MissingData } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

/** The most recordings that one export reads from. */
export const MAX_EXPORT_RECORDINGS = 10_000;

/** The most unknown topics that an answer names. */
export const MAX_UNKNOWN_TOPICS = 100;

/** The header holds the sums of `damage` and the codes of its reasons as JSON. HEAD answers it too. */
export const DAMAGE_HEADER = "x-downlink-damage";

/** The most recordings that an answer names as missing. */
export const MAX_MISSING_RECORDINGS = 100;

/** The header has what `missing` has, without the ids, as JSON. */
export const MISSING_HEADER = "x-downlink-missing";

/** A century. A longer time means no limit. */
const MAX_LOOKBACK_SECONDS = 100 * 366 * 86_400;

/** The values of `outputFormat`, each with the format that it means. */
export const outputFormats = { mcap: "mcap", mcap0: "mcap", bag1: "bag1" } as const satisfies Record<
  ExportFormat | "mcap0",
  ExportFormat
>;
const namesOfFormats = Object.keys(outputFormats) as (keyof typeof outputFormats)[];

/** The data to export, and its form. These fields are spread into the body of operations that make a link to an export. */
export const exportSelection = {
  recordingId: Id.optional(),
  recordingKey: withAliases(
    Id.optional().meta({
      description: "The imported recording with this key; with `projectId` where several projects have it",
    }),
    ["key"],
  ),
  importId: deprecate(Id.optional(), "2026-11-21"),
  sessionId: Id.optional(),
  sessionKey: Id.optional().meta({ description: "With `projectId` where several projects have it" }),
  episodeId: Id.optional().meta({ description: "The episode's span of its recordings" }),
  deviceId: withAliases(Id.optional(), ["device.id"]),
  deviceName: withAliases(Id.optional(), ["device.name"]),
  start: TimeBound.optional().meta({ description: "Inclusive; required with a device alone" }),
  end: TimeBound.optional().meta({ description: "Inclusive; required with a device alone" }),
  topics: z.array(StorableText).nullish().meta({ description: "Empty or absent: all" }),
  outputFormat: z.enum(namesOfFormats).default("mcap"),
  compressionFormat: z.enum(["", "zstd", "lz4"]).default("lz4").meta({ description: "A bag cannot be zstd" }),
  includeAttachments: z.boolean().default(false).meta({ description: "Only with a single recording" }),
  replayPolicy: z
    .enum(["", "lastPerChannel"])
    .default("")
    .meta({ description: "lastPerChannel: the latest message of each channel before `start` comes first" }),
  replayLookbackSeconds: z
    .number()
    .min(0)
    .max(MAX_LOOKBACK_SECONDS)
    .optional()
    .meta({ description: "How far before `start` lastPerChannel looks; absent: without limit" }),
  requireComplete: z.boolean().default(false).meta({
    description: "409 `Incomplete`, with the list `missing`, if any selected recording cannot be streamed",
  }),
  isHosted: z.boolean().optional().meta({ description: "Accepted and ignored" }),
  ...inProject,
};

interface Selectors {
  readonly recordingId?: string | undefined;
  readonly recordingKey?: string | undefined;
  readonly importId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly episodeId?: string | undefined;
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
}

export function selectsSomething(body: Selectors): boolean {
  const { recordingId, recordingKey, importId, sessionId, sessionKey, episodeId, deviceId, deviceName } = body;
  const selectors = [recordingId, recordingKey, importId, sessionId, sessionKey, episodeId, deviceId, deviceName];
  return selectors.some((given) => given !== undefined);
}

export const SELECTOR_REQUIRED =
  "a selector is required: recordingId, recordingKey, importId, sessionId, sessionKey, episodeId, deviceId or deviceName";

/** The facts of an export that are known before it is streamed. They are spread into the answer that has its link. */
export const exportFacts = {
  fileName: z.string().meta({
    description: "The name in the link's `Content-Disposition`",
    example: "rover-2_2026-04-14T03-00-12Z_imu.mcap",
  }),
  damage: DataDamage.optional().meta({
    description:
      "The damage of the selected recordings together, and of each as a whole: the file itself reports what is missing of the window, in a metadata record `downlink.export`. The stream's header `x-downlink-damage` says the same, without the reasons' texts",
  }),
  missing: MissingData.optional().meta({
    description:
      "Selected recordings, within the window, whose data the stream does not hold; absent if there is none. The stream's header `x-downlink-missing` says the same, without the ids",
  }),
  unknownTopics: z
    .array(z.string())
    .optional()
    .meta({
      description: `Topics that were asked for and that no selected recording has; at most ${MAX_UNKNOWN_TOPICS}`,
    }),
};

export const SELECTION_RULES = `Select a recording, a session, an episode, or a device with \`start\` and \`end\`; what is given together narrows the selection. A recording with a long gap between its messages is not selected within it. At most ${MAX_EXPORT_RECORDINGS} recordings at once. Messages come in order of log time across all of them. As \`bag1\` come only recordings that were uploaded as ROS 1 bags.`;

export const exportLinks = {
  create: operation({
    method: "post",
    path: "/v1/data/stream",
    audits: "export",
    auditsItself: true,
    makes: "nothing",
    access: apiKey("data.stream", "projects"),
    isExpensive: true,
    summary: "Ask for a link that streams the selected data; it expires after 15 seconds",
    description: SELECTION_RULES,
    bodySize: "large",
    body: z.object(exportSelection).refine(selectsSomething, SELECTOR_REQUIRED),
    response: z.object({
      link: Credential,
      linkExpiresAt: Timestamp.meta({ description: "Until then the link may be opened; what has begun goes on" }),
      ...exportFacts,
    }),
  }),
};
