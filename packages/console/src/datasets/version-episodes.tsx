import { type DatasetEpisode, type DatasetVersion, datasets, datasetVersions } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { formatMany } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { MoreRows } from "../parts/more-rows.tsx";
import { nothing, toggle, useSelection } from "../parts/selection.ts";
import { toast } from "../parts/toast.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { EpisodeTable } from "./episode-table.tsx";

const PAGE = 100;

interface EpisodesProps {
  readonly id: string;
  readonly projectId: string;
  readonly version: DatasetVersion;
  readonly q: string;
  readonly set: (changed: { q?: string; version?: number }) => void;
}

/** Shows the episodes of a version. Some can be chosen, so that their removal is staged. */
export function VersionEpisodes({ id, projectId, version, q, set }: EpisodesProps) {
  const { versionNumber } = version;
  const query = { id, versionNumber, limit: PAGE, sortBy: "startTime" as const, ...(q && { metadataQuery: q }) };
  const pages = usePages(datasetVersions.listEpisodes, query, { rowsOf: (output) => output.episodes });
  const [selection, setSelection] = useSelection(`${id} ${versionNumber} ${q}`);
  return (
    <>
      <search class="row">
        <TypedFilter label="Metadata, as task:pick" value={q} onChange={(typed) => set({ q: typed })} isSearch />
        <span class="muted">{formatMany(version.episodeCount, "episode")}</span>
      </search>
      {selection.ids.size > 0 && (
        <RemoveBar {...{ id, ids: [...selection.ids], set, onDone: () => setSelection(nothing) }} />
      )}
      {pages.rows.length > 0 && (
        <EpisodeTable
          {...{ projectId, selection }}
          rows={pages.rows.map((row: DatasetEpisode) => ({
            ...row.episode,
            hasMissingRecordings: row.hasMissingRecordings,
          }))}
          onToggle={(episodeId) => setSelection(toggle(selection, episodeId))}
        />
      )}
      {pages.rows.length === 0 && !pages.isNew && <None isFiltered={q !== ""} />}
      <MoreRows pages={pages} />
    </>
  );
}

function None({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No episode of this version matches." />;
  return (
    <Empty title="This version has no episode.">
      <p>Choose episodes on their page, and add them to this dataset.</p>
    </Empty>
  );
}

interface RemoveProps extends Pick<EpisodesProps, "id" | "set"> {
  readonly ids: readonly string[];
  readonly onDone: () => void;
}

function RemoveBar({ id, ids, set, onDone }: RemoveProps) {
  const { data: me } = useMe();
  const change = useChange(datasets.changeEpisodes, datasets.get, datasetVersions.list, datasetVersions.listEpisodes);
  const run = async () => {
    const answer = await change.run({ id, remove: [...ids] });
    if (!answer) return;
    toast(`The removal of ${answer.removed} is staged.`);
    onDone();
    set({ version: 0 });
  };
  return (
    <div class="selection-bar row">
      <strong>{ids.length} selected</strong>
      <span class="grow" />
      {may(me, "datasets.update") && (
        <Button
          text="Stage their removal"
          class="small danger"
          disabled={change.isRunning}
          onClick={() => void run()}
        />
      )}
      {change.failure && <Failed failure={change.failure} />}
    </div>
  );
}
