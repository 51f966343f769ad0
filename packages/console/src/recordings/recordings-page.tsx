import {
  ImportStatus,
  type Recording,
  type RecordingFilter,
  type RecordingSummary,
  recordings,
} from "@downlink/protocol";
import type { ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { type Rows, useRows } from "../api/use-rows.ts";
import { DatasetButton } from "../curate/dataset-button.tsx";
import { statusText } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount, formatMany } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { MovedNote } from "../parts/moved-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { RangePicker } from "../parts/range-picker.tsx";
import { recordingColumns } from "../parts/recording-columns.tsx";
import {
  everything,
  extend,
  isEmpty,
  nothing,
  type Selection,
  toggle,
  toggleIn,
  useSelection,
} from "../parts/selection.ts";
import { Table } from "../parts/table.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { UploadButton } from "../uploads/upload-button.tsx";
import { UploadPlace } from "../uploads/upload-place.tsx";
import { pagePath, useProjectId } from "../url/project.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import { ViewsMenu } from "../views/views-menu.tsx";
import { listParams, SORTS, toFilter } from "./filters.ts";
import { NoRecordings } from "./no-recordings.tsx";
import "./recordings.css";
import { isWanted, SelectionBar, wantedOf } from "./selection-bar.tsx";
import { useSilent } from "./use-silent.ts";

/** Shows all recordings of a project, on robots and here. */
export function RecordingsPage() {
  const projectId = useProjectId()!;
  const params = useParams(listParams);
  const [openedMs] = useState(Date.now());
  const filter = toFilter(params.values, projectId, openedMs);
  const { sort, order } = params.values;
  const summary = useQuery(recordings.summarize, filter);
  const rows = useRows(recordings.list, { ...filter, sortBy: sort, sortOrder: order }, { total: summary.data?.count });
  const more = summary.data?.isCapped ? "more than " : "";
  const matches = `${more}${formatCount(summary.data?.count ?? 0)}`;
  return (
    <div class="recordings-page">
      <header class="row">
        <h1>Recordings</h1>
        <RangePicker range={params.values} onChange={params.set} hasAll />
        <span class="grow" />
        <MovedNote moved={rows.moved} />
        {summary.data && (
          <p class="muted" role="status">
            {`${more}${formatMany(summary.data.count, "recording")}`} · {formatBytes(summary.data.bytes)}
          </p>
        )}
        {summary.data && summary.data.count > 0 && (
          <DatasetButton {...{ projectId, source: { kind: "recordings", filter } }} />
        )}
        <ViewsMenu />
        <UploadButton />
      </header>
      <UploadPlace projectId={projectId} />
      <UrlProblems problems={params.problems} />
      <FilterBar {...params} />
      <ProgressLine isOn={rows.isLoading} />
      {rows.failure && <Failed failure={rows.failure} again={rows.again} />}
      {rows.count === 0 && !rows.isNew ? (
        <NoRecordings {...{ params, projectId }} />
      ) : (
        <List {...{ rows, params, filter, matches, summary: summary.data, projectId }} />
      )}
    </div>
  );
}

/** Edits the filters of the list. Each stands in the address. */
function FilterBar({ values, set }: Pick<ListProps["params"], "values" | "set">) {
  const toggleStatus = (status: ImportStatus) => set({ status: toggleIn(values.status, status) });
  return (
    <search class="row filter-bar">
      <TypedFilter label="Path contains" value={values.path} onChange={(path) => set({ path })} isSearch />
      <TypedFilter label="Device" value={values.device} onChange={(device) => set({ device })} />
      {values.devices.length > 0 && (
        <Button text={`✕ ${formatCount(values.devices.length)} devices`} onClick={() => set({ devices: [] })} />
      )}
      <TypedFilter label="Topic" value={values.topic} onChange={(topic) => set({ topic })} />
      <TypedFilter
        label="Metadata, as key:value"
        placeholder="Metadata"
        value={values.meta}
        onChange={(meta) => set({ meta })}
      />
      <fieldset class="row statuses">
        <legend class="unseen">Status</legend>
        {ImportStatus.options.map((status) => (
          <label key={status} class="row">
            <input type="checkbox" checked={values.status.includes(status)} onChange={() => toggleStatus(status)} />
            {statusText(status)}
          </label>
        ))}
      </fieldset>
    </search>
  );
}

interface ListProps {
  readonly rows: Rows<Recording>;
  readonly params: UrlParams<typeof listParams>;
  readonly filter: RecordingFilter;
  readonly matches: string;
  readonly summary: RecordingSummary | undefined;
  readonly projectId: string;
}

function List({ rows, params: { values, set, hrefWith }, filter, matches, summary, projectId }: ListProps) {
  const { data: me } = useMe();
  const { route } = useLocation();
  const [selection, setSelection] = useSelection(hrefWith({ sort: "start", order: "desc" }));
  const [lastId, setLastId] = useState<string | undefined>();
  const onToggle = ({ id }: Recording, { extends: isMore }: { extends: boolean }) => {
    setSelection(isMore && lastId !== undefined ? extend(selection, between(rows, lastId, id)) : toggle(selection, id));
    setLastId(id);
  };
  useShortcuts([{ keys: "Escape", does: "Select nothing", run: () => setSelection(nothing) }]);
  const onSort = (by: string) => {
    const isSame = by === values.sort;
    set({ sort: SORTS.find((known) => known === by)!, order: isSame && values.order === "desc" ? "asc" : "desc" });
  };
  return (
    <>
      {!isEmpty(selection) && (
        <ChosenBar
          {...{ rows, summary, selection, filter, matches, projectId, mayImport: may(me, "data.upload") }}
          onAll={() => setSelection(everything)}
          onNone={() => setSelection(nothing)}
        />
      )}
      <Table
        label="Recordings"
        columns={recordingColumns(projectId, zoneName(zone.value))}
        count={rows.isNew ? 12 : rows.count}
        rowAt={rows.at}
        onLook={rows.look}
        onOpen={({ id }) => route(pagePath(projectId, "recordings", id))}
        sort={{ by: values.sort, order: values.order }}
        {...{ selection, onToggle, onSort }}
      />
    </>
  );
}

type ChosenProps = Pick<ListProps, "rows" | "summary"> & Omit<ComponentProps<typeof SelectionBar>, "wanted" | "silent">;

function ChosenBar({ rows, summary, ...bar }: ChosenProps) {
  const { selection, filter, projectId } = bar;
  const chosen = wantedAmong(rows, selection);
  const silent = useSilent(projectId, selection.isAll ? filter : new Set(chosen.map(({ device }) => device?.id ?? "")));
  const sums = selection.isAll
    ? (summary?.byStatus ?? [])
    : chosen.map(({ importStatus, size }) => ({ importStatus, count: 1, bytes: size }));
  return <SelectionBar {...bar} {...{ silent, wanted: wantedOf(sums) }} />;
}

const MOST_ROWS = 5000;

function rowsHere(rows: Rows<Recording>): readonly (Recording | undefined)[] {
  return Array.from({ length: Math.min(rows.count, MOST_ROWS) }, (_, index) => rows.at(index));
}

/** Returns those of the selected recordings that could be imported, as far as they are here. */
function wantedAmong(rows: Rows<Recording>, { ids }: Selection): readonly Recording[] {
  return rowsHere(rows)
    .filter((row) => row !== undefined)
    .filter(({ id, importStatus }) => ids.has(id) && isWanted(importStatus));
}

/** Returns the ids of the rows between two, of those that are here. */
function between(rows: Rows<Recording>, oneId: string, otherId: string): string[] {
  const ids = rowsHere(rows).map((row) => row?.id);
  const [first = 0, last = 0] = [ids.indexOf(oneId), ids.indexOf(otherId)].sort((a, b) => a - b);
  return ids.slice(first, last + 1).filter((id) => id !== undefined);
}
