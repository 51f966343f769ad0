import { ApiCallError } from "@downlink/client";
import { api, type Dataset, type DatasetEpisode, type DatasetVersion } from "@downlink/protocol";
import { RefusedError, UsageError } from "../failures/failures.ts";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import { readWhole } from "../flags/whole-number.ts";
import { readByCursor } from "../lists/read-pages.ts";
import type { Service } from "../login/open-service.ts";

const { datasets, datasetVersions } = api;

interface Named {
  /** The id, or the whole name. */
  readonly dataset: string;
  /** Undefined for the newest one that is committed. */
  readonly version: string | undefined;
  readonly project?: string | undefined;
}

/** A version that never changes, with all of its episodes by their start. */
export interface WantedVersion {
  readonly dataset: Dataset;
  readonly version: DatasetVersion;
  readonly episodes: readonly DatasetEpisode["episode"][];
}

/** Throws {@link UsageError}, and {@link RefusedError} where there is no such dataset, or the version is not committed. */
export async function findVersion(service: Service, named: Named): Promise<WantedVersion> {
  const { dataset, version } = await findCommitted(service, named);
  return { dataset, version, episodes: await readEpisodes(service, dataset, version) };
}

/** Does the same without the episodes. */
export async function findCommitted(service: Service, { dataset: text, version: given, project }: Named) {
  const dataset = await findDataset(service, text, project);
  return { dataset, version: await chooseVersion(service, dataset, given) };
}

/** Finds a dataset by its id or its whole name. Throws {@link UsageError}, and {@link RefusedError} where there is none. */
export async function findDataset({ client }: Service, text: string, project: string | undefined): Promise<Dataset> {
  const id = readArgument(datasets.get, "id", { name: "DATASET", text });
  const inProject = readFilters(datasets.list, { project }, { project: "projectId" });
  const byId = await client.call(datasets.get, { id }).catch((error: unknown) => {
    if (error instanceof ApiCallError && error.status === 404) return undefined;
    throw error;
  });
  if (byId) return byId;
  const page = await readByCursor(MOST, async (part) => {
    const { output, headers } = await client.callWithHeaders(datasets.list, { name: text, ...inProject, ...part });
    return { rows: output, headers };
  });
  const [found, another] = page.rows.filter(({ name }) => name.toLowerCase() === text.toLowerCase());
  if (!found) throw new RefusedError(`there is no dataset with the id or the name ${text}`);
  if (another) throw new UsageError(`Several projects have a dataset ${text}: give --project, or its id.`);
  return found;
}

const MOST = Number.MAX_SAFE_INTEGER;
const MOST_VERSION = 2 ** 31 - 1;

async function chooseVersion({ client }: Service, { id }: Dataset, given: string | undefined): Promise<DatasetVersion> {
  if (given !== undefined) {
    const versionNumber = readWhole("VERSION", given, { least: 1, most: MOST_VERSION });
    const version = await client.call(datasetVersions.get, { id, versionNumber });
    if (version.committedAt !== undefined) return version;
    throw new RefusedError(`version ${versionNumber} is editable: only a committed version never changes`);
  }
  const { versions } = await client.call(datasetVersions.list, { id, sortOrder: "desc", limit: 2 });
  const newest = versions.find(({ committedAt }) => committedAt !== undefined);
  if (newest) return newest;
  throw new RefusedError("no version of the dataset is committed yet");
}

async function readEpisodes({ client }: Service, { id }: Dataset, { versionNumber }: DatasetVersion) {
  const query = { id, versionNumber, include: ["recordings" as const], sortBy: "startTime", sortOrder: "asc" } as const;
  const { rows } = await readByCursor(MOST, async (part) => {
    const { output, headers } = await client.callWithHeaders(datasetVersions.listEpisodes, {
      ...query,
      ...part,
      include: [...query.include],
    });
    return { rows: output.episodes, headers };
  });
  return rows.map(({ episode }) => episode);
}
