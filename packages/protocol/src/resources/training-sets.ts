import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { CursorHeaders, cursorPage } from "../shapes/cursor.ts";
import { SortOrder } from "../shapes/list.ts";
import { inProject } from "../shapes/selectors.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { VersionNumber } from "./dataset-versions.ts";
import { TrainingMapping } from "./training-mapping.ts";

/** The most characters of a mapping, as JSON. */
export const MAX_MAPPING_CHARACTERS = 65_536;
/** The most revisions of all mappings of a dataset. */
export const MAX_MAPPINGS = 1000;
/** The most episodes that a training set is made of. */
export const MAX_TRAINING_EPISODES = 10_000;

/** A mapping with its name. It never changes: another text under its name is the next revision. */
export const DatasetMapping = z
  .object({
    id: z.string(),
    datasetId: z.string(),
    name: z.string(),
    revision: z.int().min(1),
    sha256: z.string().meta({ description: "The SHA-256 of the mapping as JSON, in hexadecimal" }),
    createdAt: Timestamp,
    mapping: TrainingMapping,
  })
  .meta({ id: "DatasetMapping" });
export type DatasetMapping = z.infer<typeof DatasetMapping>;

const trainingFormats = ["lerobot-v3", "parquet"] as const;
export const TrainingFormat = z.enum(trainingFormats).meta({
  description:
    "`lerobot-v3`: a LeRobot dataset, version 3.0, with rows at one rate, made of the mapping's `features` · `parquet`: every message of its `topics`, unaligned, as tables",
});
export type TrainingFormat = z.infer<typeof TrainingFormat>;

const trainingStates = ["building", "ready", "failed", "expired"] as const;
export const TrainingState = z.enum(trainingStates).meta({
  description:
    "`building`: its files are being written · `ready`: they can be fetched · `failed` · `expired`: they are gone, and the same request builds them again",
});
export type TrainingState = z.infer<typeof TrainingState>;

const warnings = ["frozen", "clipped", "jump"] as const;
const TrainingWarning = z.object({
  check: z.enum(warnings).meta({
    description:
      "`frozen`: a feature has the same values in all rows · `clipped`: a fifth of the rows or more have the least or greatest value, in three runs or more · `jump`: from one row to the next a value changes by more than five standard deviations",
  }),
  feature: z.string(),
  text: z.string(),
});

const EpisodeRows = z.object({
  episodeId: z.string(),
  rowCount: z.int().min(0).meta({ description: "With the format `parquet`: its messages" }),
  pieceCount: z
    .int()
    .min(0)
    .meta({ description: "The episodes that it became; more than one where it was split at gaps" }),
  trimmedStart: z.int().min(0).meta({ description: "Rows at its beginning that have no value of some feature" }),
  trimmedEnd: z.int().min(0),
  leftOut: z.string().optional().meta({ description: "Why it is not in the set, or not all of it" }),
  warnings: z.array(TrainingWarning).optional().meta({
    description: "With the format `lerobot-v3`: what is odd in its rows, and may be right; the first ten",
  }),
});

/** Files of a version's episodes that a trainer opens as they are. The same version, mapping and format give the same bytes. */
export const TrainingSet = z
  .object({
    id: z.string(),
    projectId: z.string(),
    datasetId: z.string(),
    versionNumber: z.int().min(1),
    mappingId: z.string(),
    format: TrainingFormat,
    identity: z.string().meta({
      description:
        "A SHA-256 in hexadecimal over the version's episodes, the mapping, the format and the writer: what is equal has equal files",
    }),
    state: TrainingState,
    progress: z.object({
      episodesDone: z.int().min(0),
      episodeCount: z.int().min(0),
      bytes: ByteCount.meta({ description: "That were written so far" }),
    }),
    manifestSha256: z.string().optional().meta({
      description:
        "The SHA-256 of the list of its files: a line `sha256  size  path` for each but `downlink.json`, by path",
    }),
    fileCount: z.int().min(0).optional(),
    totalBytes: ByteCount.optional(),
    episodes: z.array(EpisodeRows).max(1000).optional().meta({
      description: "With the state `ready`, in the answer for a single set: what became of its first 1,000 episodes",
    }),
    failure: z.string().optional().meta({ description: "With the state `failed`: the reason" }),
    createdAt: Timestamp,
    expiresAt: Timestamp.meta({ description: "From then on its files are gone" }),
  })
  .meta({ id: "TrainingSet" });
export type TrainingSet = z.infer<typeof TrainingSet>;

const datasetParams = z.object({ id: Id });

/** These operations go beyond the specification. */
export const datasetMappings = {
  create: operation({
    method: "post",
    path: "/v1/datasets/{id}/mappings",
    unaudited: "A mapping never changes and takes effect only in training sets",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("datasets.update", "projects"),
    summary: "Keep a mapping, which says how topics become the rows of a training set",
    description: `Another text under a name that is there becomes its next revision; the same text is answered with the mapping that there is. A dataset has ${MAX_MAPPINGS} revisions at most.`,
    params: datasetParams,
    body: z.object({
      name: StorableText.min(1).max(100).meta({ example: "pick-30hz" }),
      mapping: TrainingMapping.refine(
        (mapping) => JSON.stringify(mapping).length <= MAX_MAPPING_CHARACTERS,
        `must have at most ${MAX_MAPPING_CHARACTERS} characters as JSON`,
      ),
    }),
    response: DatasetMapping,
  }),
  list: operation({
    method: "get",
    path: "/v1/datasets/{id}/mappings",
    access: apiKey("datasets.list", "projects"),
    summary: "List a dataset's mappings, the latest first",
    params: datasetParams,
    query: z.object({ sortOrder: SortOrder.default("desc"), ...cursorPage }),
    response: z.object({ mappings: z.array(DatasetMapping) }),
    responseHeaders: CursorHeaders,
  }),
  get: operation({
    method: "get",
    path: "/v1/datasets/{id}/mappings/{mappingId}",
    access: apiKey("datasets.list", "projects"),
    summary: "Get a mapping",
    params: z.object({ id: Id, mappingId: Id }),
    response: DatasetMapping,
  }),
};

/** The messages that one part of a feature, or a topic that becomes a table, has in an episode. */
const PartReport = z.object({
  feature: z.string().optional().meta({ description: "Absent with the format `parquet`" }),
  topic: z.string(),
  encoding: z.string().optional().meta({ description: "Absent where there is no message" }),
  schemaName: z.string().optional(),
  messageCount: z.int().min(0).meta({ description: "Those with a value" }),
  withoutValue: z.int().min(0),
  reason: z.string().optional().meta({ description: "Why the first of those without a value has none" }),
  medianRateHz: z.number().optional(),
  greatestGapMs: z.number().optional(),
  shape: z.array(z.int()).meta({ description: "The count of values; of a picture its height, width and channels" }),
  columns: z
    .array(z.object({ name: z.string(), type: z.string() }))
    .optional()
    .meta({
      description:
        "With the format `parquet`: the fields of its messages, of the first schema that they have, those within others by their ways, such as `header.stamp.sec` and `points[].x`; the first 200",
    }),
});

const Gap = z.object({
  feature: z.string(),
  topic: z.string(),
  start: Timestamp.meta({ description: "The time of its first row" }),
  rowCount: z.int().min(1),
});

const TriedEpisode = EpisodeRows.extend({
  problem: z.string().optional().meta({ description: "Why no set can be built with this episode and the mapping" }),
  gaps: z.array(Gap).meta({ description: "Rows inside the episode that have no value, the first hundred" }),
  parts: z.array(PartReport),
});

const TriedPicture = z.object({
  mediaType: z.string(),
  width: z.int(),
  height: z.int(),
  bytes: ByteCount,
  data: z.string().optional().meta({ description: "The picture in base 64, unless it is large" }),
});

const TriedValue = z
  .union([z.number(), z.string(), z.boolean(), z.array(z.number().nullable()), TriedPicture])
  .nullable()
  .meta({ description: "A single whole number is a text, and null stands for what is no finite number" });

const FeatureShape = z.object({
  dtype: z.string(),
  shape: z.array(z.int()),
  names: z.array(z.string()).nullable(),
});

/** The most episodes that are tried at once. */
const MAX_TRIED = 20;

const TrainingFile = z.object({
  path: z.string().meta({ description: "In the set, such as `meta/info.json`" }),
  size: ByteCount,
  sha256: z.string(),
  link: Credential.meta({ description: "Takes GET, HEAD and `Range` for an hour" }),
});

/** These operations go beyond the specification. */
export const trainingSets = {
  create: operation({
    method: "post",
    path: "/v1/datasets/{id}/versions/{versionNumber}/training-sets",
    audits: "trainingSet",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("datasets.update", "projects"),
    isExpensive: true,
    summary:
      "Build a training set of a committed version; the one that is there is answered where it has the same identity",
    description: `400 for a mapping without what the format is made of, 409 for a version that is not committed, and \`Incomplete\` where data of its recordings is not here and \`missing\` is \`fail\`. A set has ${MAX_TRAINING_EPISODES} episodes at most.`,
    params: z.object({ id: Id, versionNumber: VersionNumber }),
    body: z.object({
      mappingId: Id,
      format: TrainingFormat.default("lerobot-v3"),
      missing: z.enum(["fail", "leaveOut"]).default("fail").meta({
        description: "The treatment of episodes of which data is not here",
      }),
      keepDays: z.int().min(1).max(365).default(30).meta({
        description: "A set that is there is kept as long as any request for it has asked for",
      }),
    }),
    response: TrainingSet,
  }),
  draft: operation({
    method: "post",
    path: "/v1/datasets/{id}/versions/{versionNumber}/mapping-draft",
    unaudited: "Nothing changes",
    makes: "nothing",
    access: apiKey("data.stream", "projects"),
    summary: "Guess a mapping from the topics that all episodes of a version have",
    description:
      "Nothing is stored. It reads the first message of each topic of one episode. Those that can be read are the mapping's `topics`, and some become `features`.",
    params: z.object({ id: Id, versionNumber: VersionNumber }),
    response: z.object({
      mapping: TrainingMapping.optional().meta({ description: "Absent where no topic can be read" }),
      notes: z.array(z.string()).meta({ description: "Topics that are not in it, and what else has to be chosen" }),
    }),
  }),
  tryOut: operation({
    method: "post",
    path: "/v1/datasets/{id}/versions/{versionNumber}/training-sets/try",
    unaudited: "Nothing changes",
    makes: "nothing",
    access: apiKey("data.stream", "projects"),
    summary: "Try a mapping with some episodes of a version, and see their first rows",
    description: "Nothing is stored. It takes a minute at most, and may wait a minute for others.",
    params: z.object({ id: Id, versionNumber: VersionNumber }),
    body: z
      .object({
        mapping: TrainingMapping.optional(),
        mappingId: Id.optional().meta({ description: "One that is kept; it is tried where there is no `mapping`" }),
        format: TrainingFormat.optional().meta({
          description: "Absent: `lerobot-v3`, or `parquet` for a mapping without `features`",
        }),
        episodeIds: z.array(Id).min(1).max(MAX_TRIED).optional().meta({
          description: "Absent: five of the version, at equal distances",
        }),
      })
      .refine(
        ({ mapping, mappingId }) => mapping !== undefined || mappingId !== undefined,
        "must have a mapping, or the mappingId of one that is kept",
      ),
    response: z.object({
      episodes: z.array(TriedEpisode),
      truncated: z.boolean().meta({ description: "Time was up before all episodes were tried" }),
      features: z
        .record(z.string(), FeatureShape)
        .meta({ description: "As the first episode with rows has them; none with the format `parquet`" }),
      task: z.string().optional(),
      rows: z.array(z.record(z.string(), TriedValue)).meta({
        description:
          "The first five rows of that episode, by the names of the features; none with the format `parquet`",
      }),
    }),
  }),
  list: operation({
    method: "get",
    path: "/v1/training-sets",
    access: apiKey("datasets.list", "projects"),
    summary: "List training sets, the latest first",
    query: z.object({
      ...inProject,
      datasetId: Id.optional(),
      state: TrainingState.optional(),
      sortOrder: SortOrder.default("desc"),
      ...cursorPage,
    }),
    response: z.object({ trainingSets: z.array(TrainingSet) }),
    responseHeaders: CursorHeaders,
  }),
  get: operation({
    method: "get",
    path: "/v1/training-sets/{id}",
    access: apiKey("datasets.list", "projects"),
    summary: "Get a training set",
    params: z.object({ id: Id }),
    response: TrainingSet,
  }),
  listFiles: operation({
    method: "get",
    path: "/v1/training-sets/{id}/files",
    access: apiKey("data.stream", "projects"),
    summary: "List the files of a training set that is ready, by their paths, with links to them",
    params: z.object({ id: Id }),
    query: z.object({ sortOrder: SortOrder.default("asc"), ...cursorPage }),
    response: z.object({ files: z.array(TrainingFile) }),
    responseHeaders: CursorHeaders,
  }),
  stream: operation({
    method: "post",
    path: "/v1/training-sets/{id}/stream",
    audits: "trainingSet",
    makes: "nothing",
    access: apiKey("data.stream", "projects"),
    summary: "Ask for a link to all files of a training set that is ready, as one tar archive",
    description:
      "The link may be opened for an hour, or until the set expires or is deleted, and takes `HEAD`, `Range` and `If-Range`. The same set gives the same bytes. The link, and what is sent by it, ends with the API key or session by which it was made.",
    params: z.object({ id: Id }),
    response: z.object({
      link: Credential,
      linkExpiresAt: Timestamp.meta({ description: "Until then the link may be opened" }),
      size: ByteCount,
    }),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/training-sets/{id}",
    audits: "trainingSet",
    access: apiKey("datasets.delete", "projects"),
    summary: "Delete a training set with its files; one that is being built is given up",
    params: z.object({ id: Id }),
    response: z.object({ id: z.string() }),
  }),
};
