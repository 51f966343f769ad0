import { api, type TrainingSet } from "@downlink/protocol";
import { formatBytes } from "@downlink/terminal/amounts";
import { readFilters } from "../flags/read-filters.ts";
import { timeText } from "../lists/cell-texts.ts";
import type { Form, List } from "../lists/list.ts";
import { readByCursor } from "../lists/read-pages.ts";
import { findDataset } from "../pull/find-version.ts";

const { list } = api.trainingSets;

const form: Form<TrainingSet> = {
  things: "training sets",
  head: ["ID", "CREATED", "STATE", "EPISODES", "SIZE", "VERSION", "DATASET"],
  cells: ({ id, createdAt, state, progress, versionNumber, datasetId }) => [
    ...[id, timeText(createdAt), state, `${progress.episodesDone}/${progress.episodeCount}`],
    ...[formatBytes(progress.bytes), String(versionNumber), datasetId],
  ],
  fields: [
    ...["id", "projectId", "datasetId", "versionNumber", "mappingId", "format", "identity", "state"],
    ...["progress.episodesDone", "progress.episodeCount", "progress.bytes", "manifestSha256", "fileCount"],
    ...["totalBytes", "failure", "createdAt", "expiresAt"],
  ],
  encode: (rows) => list.response.encode({ trainingSets: [...rows] }).trainingSets,
  wrap: (encoded) => ({ trainingSets: encoded }),
};

/** Lists training sets, the latest first. The dataset may be given by its name. */
export const listSets: List<TrainingSet> = async (service, flags, limit) => {
  const given = readFilters(list, flags, { project: "projectId", state: "state" });
  const { dataset, project } = flags as { dataset?: string; project?: string };
  const datasetId = dataset === undefined ? undefined : (await findDataset(service, dataset, project)).id;
  const query = { ...given, ...(datasetId !== undefined && { datasetId }) };
  const page = await readByCursor(limit, async (part) => {
    const { output, headers } = await service.client.callWithHeaders(list, { ...query, ...part });
    return { rows: output.trainingSets, headers };
  });
  return { page, form };
};
