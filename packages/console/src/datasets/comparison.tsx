import { type DatasetVersion, datasetVersions } from "@downlink/protocol";
import { usePages } from "../api/use-pages.ts";
import { useQuery } from "../api/use-query.ts";
import { Empty } from "../parts/empty.tsx";
import { MoreRows } from "../parts/more-rows.tsx";
import { EpisodeTable } from "./episode-table.tsx";
import { nameCompared } from "./versions.ts";

const PAGE = 100;

interface ComparisonProps {
  readonly id: string;
  readonly projectId: string;
  readonly from: DatasetVersion;
  readonly to: DatasetVersion;
}

/** Shows the changes from one version to another: first how many, then which episodes, by their start. */
export function Comparison({ id, projectId, from, to }: ComparisonProps) {
  const query = { id, versionNumber: to.versionNumber, version: from.versionNumber };
  const { data: counts } = useQuery(datasetVersions.compare, { ...query, limit: 0 });
  const pages = usePages(datasetVersions.compare, { ...query, limit: PAGE }, { rowsOf: (output) => output.changes });
  return (
    <>
      <p role="status">
        From {nameCompared(from)} to {nameCompared(to)}:{" "}
        {counts && (
          <>
            <span class="added">+{counts.addedCount}</span> <span class="removed">−{counts.removedCount}</span> episodes
          </>
        )}
      </p>
      {pages.rows.length > 0 && (
        <EpisodeTable
          projectId={projectId}
          rows={pages.rows.map(({ episode, change, hasMissingRecordings }) => ({
            ...episode,
            change,
            hasMissingRecordings,
          }))}
        />
      )}
      {pages.rows.length === 0 && !pages.isNew && <Empty title="The two versions hold the same episodes." />}
      <MoreRows pages={pages} />
    </>
  );
}
