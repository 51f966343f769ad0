import { api, type Dataset, type DatasetVersion } from "@downlink/protocol";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import { timeText } from "./cell-texts.ts";
import type { Form, List } from "./list.ts";
import { readByCursor } from "./read-pages.ts";

const { list } = api.datasets;
const versions = api.datasetVersions.list;

const form: Form<Dataset> = {
  things: "datasets",
  head: ["ID", "UPDATED", "EPISODES", "NAME"],
  cells: ({ id, updatedAt, episodeCount, name }) => [id, timeText(updatedAt), String(episodeCount), name],
  fields: [
    ...["id", "projectId", "name", "description", "episodeCount", "createdAt", "updatedAt"],
    ...["creatorOrgMemberId", "creatorApiKeyId"],
  ],
  encode: (rows) => list.response.encode([...rows]),
};

const versionForm: Form<DatasetVersion> = {
  things: "versions",
  head: ["VERSION", "COMMITTED", "EPISODES", "ADDED", "REMOVED", "MESSAGE"],
  cells: (version) => [
    String(version.versionNumber),
    version.committedAt === undefined ? "editable" : timeText(version.committedAt),
    String(version.episodeCount),
    String(version.addedEpisodeCount),
    String(version.removedEpisodeCount),
    version.message ?? "",
  ],
  fields: [
    ...["versionNumber", "committedAt", "episodeCount", "addedEpisodeCount", "removedEpisodeCount", "message"],
    ...["committedByOrgMemberId", "committedByApiKeyId", "createdAt"],
  ],
  encode: (rows) => versions.response.encode({ versions: [...rows] }).versions,
  wrap: (encoded) => ({ versions: encoded }),
};

/** Lists datasets, the one that changed last first. */
export const listDatasets: List<Dataset> = async ({ client }, flags, limit) => {
  const given = readFilters(list, flags, { project: "projectId", name: "name" });
  const query = { ...given, sortBy: "updatedAt", sortOrder: "desc" } as const;
  const page = await readByCursor(limit, async (part) => {
    const { output, headers } = await client.callWithHeaders(list, { ...query, ...part });
    return { rows: output, headers };
  });
  return { page, form };
};

/** Lists the versions of a dataset, the editable one first. */
export function listVersionsOf(dataset: string): List<DatasetVersion> {
  return async ({ client }, _flags, limit) => {
    const query = { id: readArgument(versions, "id", { name: "DATASET", text: dataset }), sortOrder: "desc" } as const;
    const page = await readByCursor(limit, async (part) => {
      const { output, headers } = await client.callWithHeaders(versions, { ...query, ...part });
      return { rows: output.versions, headers };
    });
    return { page, form: versionForm };
  };
}
