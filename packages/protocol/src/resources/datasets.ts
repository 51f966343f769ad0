import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { CursorHeaders, cursorPage } from "../shapes/cursor.ts";
import { sorting } from "../shapes/list.ts";
import { inProject } from "../shapes/selectors.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { Episode, episodeFilters, episodeInclude } from "./episodes.ts";

const MAX_EPISODE_IDS = 2000;

const DatasetName = StorableText.min(1)
  .max(100)
  .meta({ description: "Unique within the project, in any case", example: "pick-and-place" });
const Description = StorableText.min(1).max(500).nullable();
const EpisodeIds = z.array(Id).max(MAX_EPISODE_IDS);

/** A curated set of episodes, with versions. spec: Dataset */
export const Dataset = z
  .object({
    id: z.string(),
    projectId: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    creatorOrgMemberId: z.string().nullable().meta({ description: "Null where an API key created it" }),
    creatorApiKeyId: z.string().nullable().meta({ description: "Null where a member created it" }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    episodeCount: z.int().min(0).meta({
      description: "The count of the latest committed version; that of the editable one while none is committed",
    }),
  })
  .meta({ id: "Dataset" });
export type Dataset = z.infer<typeof Dataset>;

/** How a staged edit ended. */
const EpisodeEdit = z.object({
  added: z.int().min(0),
  removed: z.int().min(0),
  alreadyPresent: z
    .int()
    .min(0)
    .meta({ description: "How many of the adds were there already, or are in the request more than once" }),
});

/** An episode of a version. spec: Dataset episode */
export const DatasetEpisode = z
  .object({
    addedAt: Timestamp,
    addedInVersion: z.int().min(1),
    hasMissingRecordings: z
      .boolean()
      .meta({ description: "No primary site holds the data of some recording of the episode now" }),
    episode: Episode,
  })
  .meta({ id: "DatasetEpisode" });
export type DatasetEpisode = z.infer<typeof DatasetEpisode>;

/** The query of both lists of a dataset's episodes. */
export const datasetEpisodesQuery = z.object({
  ...episodeFilters,
  ...sorting("addedAt", "createdAt", "startTime", "endTime"),
  ...cursorPage,
  ...episodeInclude,
});

const params = z.object({ id: Id });

export const datasets = {
  create: operation({
    method: "post",
    path: "/v1/datasets",
    audits: "dataset",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("datasets.create", "projects"),
    summary: "Create a dataset; its first episodes are staged in version 1",
    body: z.object({
      projectId: Id,
      name: DatasetName,
      description: Description.optional(),
      episodeIds: EpisodeIds.default([]),
    }),
    response: Dataset.extend(EpisodeEdit.shape),
  }),
  list: operation({
    method: "get",
    path: "/v1/datasets",
    access: apiKey("datasets.list", "projects"),
    summary: "List datasets",
    query: z.object({
      ...inProject,
      name: StorableText.optional().meta({ description: "Part of the name, in any case" }),
      ...sorting("createdAt", "name", "updatedAt", "episodeCount"),
      ...cursorPage,
    }),
    response: z.array(Dataset),
    responseHeaders: CursorHeaders,
  }),
  get: operation({
    method: "get",
    path: "/v1/datasets/{id}",
    access: apiKey("datasets.list", "projects"),
    summary: "Get a dataset",
    params,
    response: Dataset,
  }),
  update: operation({
    method: "patch",
    path: "/v1/datasets/{id}",
    audits: "dataset",
    access: apiKey("datasets.update", "projects"),
    summary: "Update a dataset's name and description; what is not sent stays as it is",
    params,
    body: z.object({
      name: DatasetName.optional(),
      description: Description.optional().meta({ description: "Null clears it" }),
    }),
    response: Dataset,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/datasets/{id}",
    audits: "dataset",
    access: apiKey("datasets.delete", "projects"),
    summary: "Delete a dataset with all its versions; the episodes stay",
    params,
    response: z.object({ success: z.literal(true) }),
  }),
  listEpisodes: operation({
    method: "get",
    path: "/v1/datasets/{id}/episodes",
    access: apiKey("datasets.list", "projects"),
    summary: "List the episodes of a dataset's latest committed version; of the editable one while none is committed",
    params,
    query: datasetEpisodesQuery,
    response: z.object({ episodes: z.array(DatasetEpisode) }),
    responseHeaders: CursorHeaders,
  }),
  changeEpisodes: operation({
    method: "patch",
    path: "/v1/datasets/{id}/episodes",
    unaudited: "The versions of the dataset say which episodes were added and removed",
    access: apiKey("datasets.update", "projects"),
    isExpensive: true,
    summary: "Stage adds and removals of episodes in the editable version",
    description:
      "All or nothing: an unknown episode, or one of another project, is 404. An id in both lists is 400; removing an episode that is not there is ignored and not counted.",
    params,
    body: z.object({ add: EpisodeIds.default([]), remove: EpisodeIds.default([]) }),
    response: EpisodeEdit,
  }),
};
