import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { CursorHeaders, cursorPage } from "../shapes/cursor.ts";
import { SortOrder } from "../shapes/list.ts";
import { QueryBoolean, queryInteger } from "../shapes/query.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { DatasetEpisode, datasetEpisodesQuery } from "./datasets.ts";
import { episodeInclude } from "./episodes.ts";

/** The most characters of a commit's message. */
const MAX_COMMIT_MESSAGE = 1000;

/** The highest number is the editable version; all others are committed and never change. spec: Dataset version */
export const DatasetVersion = z
  .object({
    versionNumber: z.int().min(1),
    committedAt: Timestamp.optional().meta({ description: "Absent while editable" }),
    committedByOrgMemberId: z
      .string()
      .optional()
      .meta({ description: "Absent where an API key committed it, and while editable" }),
    committedByApiKeyId: z
      .string()
      .optional()
      .meta({ description: "Absent where a member committed it, and while editable" }),
    message: z.string().optional().meta({ description: "The message of its commit; absent where there is none" }),
    createdAt: Timestamp,
    episodeCount: z.int().min(0).meta({ description: "For the editable version, with its staged changes" }),
    addedEpisodeCount: z.int().min(0).meta({ description: "Against the version before; staged while editable" }),
    removedEpisodeCount: z.int().min(0).meta({ description: "Against the version before; staged while editable" }),
  })
  .meta({ id: "DatasetVersion" });
export type DatasetVersion = z.infer<typeof DatasetVersion>;

/** A change from one version to another. spec: Dataset episode change */
export const DatasetEpisodeChange = DatasetEpisode.extend({
  change: z
    .enum(["added", "removed"])
    .meta({ description: "`added`: in the target and not in the base; `removed`: the reverse" }),
}).meta({ id: "DatasetEpisodeChange" });
export type DatasetEpisodeChange = z.infer<typeof DatasetEpisodeChange>;

export const VersionNumber = z.codec(
  z.string().regex(/^[0-9]+$/, "must be a whole number"),
  z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  { decode: Number, encode: String },
);

const datasetParams = z.object({ id: Id });
const versionParams = z.object({ id: Id, versionNumber: VersionNumber });

const Discarded = z.object({
  discardedAdds: z.int().min(0),
  discardedRemoves: z.int().min(0),
});

export const datasetVersions = {
  commit: operation({
    method: "post",
    path: "/v1/datasets/{id}/commit",
    audits: "dataset",
    makes: { repeat: "answer" },
    access: apiKey("datasets.update", "projects"),
    isExpensive: true,
    summary: "Commit the staged changes as a version, and open the next editable one",
    description: "409 where nothing is staged.",
    params: datasetParams,
    body: z.object({
      message: StorableText.min(1)
        .max(MAX_COMMIT_MESSAGE)
        .optional()
        .meta({ description: "Says what the version is for, or what changed" }),
    }),
    response: z.object({ committed: DatasetVersion, editableVersionNumber: z.int().min(1) }),
  }),
  discard: operation({
    method: "post",
    path: "/v1/datasets/{id}/discard",
    audits: "dataset",
    makes: "nothing",
    access: apiKey("datasets.update", "projects"),
    isExpensive: true,
    summary: "Discard the staged changes: the editable version is the last committed one again",
    params: datasetParams,
    response: Discarded,
  }),
  list: operation({
    method: "get",
    path: "/v1/datasets/{id}/versions",
    access: apiKey("datasets.list", "projects"),
    summary: "List a dataset's versions, the editable one among them, by number",
    params: datasetParams,
    query: z.object({ sortOrder: SortOrder.default("asc"), ...cursorPage }),
    response: z.object({ versions: z.array(DatasetVersion) }),
    responseHeaders: CursorHeaders,
  }),
  get: operation({
    method: "get",
    path: "/v1/datasets/{id}/versions/{versionNumber}",
    access: apiKey("datasets.list", "projects"),
    summary: "Get a version of a dataset",
    params: versionParams,
    response: DatasetVersion.extend({
      hasMissingRecordings: z
        .boolean()
        .meta({ description: "Some recording of the version has no available data source now" }),
    }),
  }),
  listEpisodes: operation({
    method: "get",
    path: "/v1/datasets/{id}/versions/{versionNumber}/episodes",
    access: apiKey("datasets.list", "projects"),
    summary: "List the episodes of a version",
    params: versionParams,
    query: datasetEpisodesQuery,
    response: z.object({ episodes: z.array(DatasetEpisode) }),
    responseHeaders: CursorHeaders,
  }),
  compare: operation({
    method: "get",
    path: "/v1/datasets/{id}/versions/{versionNumber}/compare",
    access: apiKey("datasets.list", "projects"),
    isExpensive: true,
    summary: "List what has changed from a base version to this one, by the episodes' start",
    description:
      "The counts cover the whole changeset. With `limit` 0 there are no changes and no cursor, but the counts.",
    params: versionParams,
    query: z.object({
      version: queryInteger({ min: 1, max: 2 ** 31 - 1 }).meta({ description: "The base" }),
      limit: cursorPage.limit,
      cursor: cursorPage.cursor,
      ...episodeInclude,
    }),
    response: z.object({
      changes: z.array(DatasetEpisodeChange),
      addedCount: z.int().min(0),
      removedCount: z.int().min(0),
      nextCursor: z.string().nullable(),
    }),
    responseHeaders: CursorHeaders,
  }),
  restore: operation({
    method: "post",
    path: "/v1/datasets/{id}/versions/{versionNumber}/restore",
    audits: "dataset",
    makes: "nothing",
    access: apiKey("datasets.update", "projects"),
    isExpensive: true,
    summary: "Stage what makes the editable version the same as a committed one",
    description:
      "409 where changes are staged and `force`, in the query or the body, is not true. 404 for a version that is not committed.",
    params: versionParams,
    query: z.object({ force: QueryBoolean.optional().meta({ description: "Overwrite staged changes" }) }),
    body: z.object({ force: z.boolean().optional().meta({ description: "Overwrite staged changes; default false" }) }),
    response: z.object({ added: z.int().min(0), removed: z.int().min(0), ...Discarded.shape }),
  }),
};
