import { datasets, datasetVersions, type Episode, episodes } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { usePages } from "../api/use-pages.ts";
import { useQuery } from "../api/use-query.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import "../parts/list-bars.css";
import { MoreRows } from "../parts/more-rows.tsx";
import { namedChoices, Select } from "../parts/select.tsx";
import { isSelected, nothing, type Selection, toggle, useSelection } from "../parts/selection.ts";
import { ZonedTime } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { formatDuration } from "../time/format-time.ts";
import { textParam } from "../url/params.ts";
import { pagePath, useProjectId } from "../url/project.ts";
import { useParams } from "../url/use-params.ts";

const PAGE = 100;

export function EpisodesPage() {
  const projectId = useProjectId()!;
  const { values, set, problems } = useParams({ q: textParam });
  const query = { projectId, limit: PAGE, sortBy: "startTime", sortOrder: "desc", include: ["recordings"] } as const;
  const input = { ...query, include: [...query.include], ...(values.q && { metadataQuery: values.q }) };
  const pages = usePages(episodes.list, input, { rowsOf: (output) => output.episodes });
  const [selection, setSelection] = useSelection(`${projectId} ${values.q}`);
  return (
    <div class="stack">
      <h1>Episodes</h1>
      <UrlProblems problems={problems} />
      <search>
        <TypedFilter label="Metadata, as task:pick" value={values.q} onChange={(q) => set({ q })} isSearch />
      </search>
      {selection.ids.size > 0 && (
        <AddBar {...{ projectId, ids: [...selection.ids], onDone: () => setSelection(nothing) }} />
      )}
      {pages.rows.length > 0 && (
        <List {...{ rows: pages.rows, projectId, selection, onToggle: (id) => setSelection(toggle(selection, id)) }} />
      )}
      {pages.rows.length === 0 && !pages.isNew && (
        <Empty title={values.q ? "No episode matches." : "There is no episode yet."}>
          <p>
            Choose <a href={pagePath(projectId, "events")}>events</a> and make episodes from them, or make them by a
            program: POST /v1/episodes.
          </p>
        </Empty>
      )}
      <MoreRows pages={pages} />
    </div>
  );
}

interface ListProps {
  readonly rows: readonly Episode[];
  readonly projectId: string;
  readonly selection: Selection;
  readonly onToggle: (id: string) => void;
}

function List({ rows, projectId, selection, onToggle }: ListProps) {
  return (
    <ul class="card stack">
      {rows.map(({ id, startTime, endTime, recordings = [], hasMissingRecordings }) => (
        <li key={id} class="row">
          <input
            type="checkbox"
            aria-label="Select"
            checked={isSelected(selection, id)}
            onChange={() => onToggle(id)}
          />
          <a href={pagePath(projectId, "episodes", id)}>
            <ZonedTime timeNs={startTime} />
          </a>
          <span class="muted">{formatDuration(endTime - startTime)}</span>
          <span class="cut grow">
            <ForeignText text={recordings.map(({ path }) => path).join(", ")} />
          </span>
          {hasMissingRecordings && <Badge text="some is missing" sign="▲" tone="warn" />}
        </li>
      ))}
    </ul>
  );
}

interface AddProps {
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly onDone: () => void;
}

/** Stages the chosen episodes in a dataset, where they are committed. */
function AddBar({ projectId, ids, onDone }: AddProps) {
  const { data: me } = useMe();
  const { data: all = [] } = useQuery(datasets.list, { projectId, sortBy: "name", limit: 500 });
  const [datasetId, setDatasetId] = useState("");
  const change = useChange(datasets.changeEpisodes, datasets.get, datasetVersions.list);
  const add = async () => {
    const answer = await change.run({ id: datasetId, add: [...ids] });
    if (!answer) return;
    toast(`${answer.added} staged, ${answer.alreadyPresent} were there already.`);
    onDone();
  };
  return (
    <div class="selection-bar row">
      <strong>{ids.length} selected</strong>
      <span class="grow" />
      {may(me, "datasets.update") && (
        <>
          <Select
            aria-label="Dataset"
            value={datasetId}
            choices={[["", "choose a dataset"], ...namedChoices(all)]}
            onChange={setDatasetId}
          />
          <Button
            text="Add to it"
            class="small primary"
            disabled={datasetId === "" || change.isRunning}
            onClick={() => void add()}
          />
        </>
      )}
      {change.failure && <Failed failure={change.failure} />}
    </div>
  );
}
