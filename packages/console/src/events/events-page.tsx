import { type Event, type EventType, events, eventTypes } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { type Rows, useRows } from "../api/use-rows.ts";
import { DatasetButton } from "../curate/dataset-button.tsx";
import { EventDialog } from "../curate/event-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { MovedNote } from "../parts/moved-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { nothing, toggle, useSelection } from "../parts/selection.ts";
import { Table } from "../parts/table.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath, useProjectId } from "../url/project.ts";
import { useAsked } from "../url/use-asked.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import { eventColumns } from "./event-columns.tsx";
import { EventFilters } from "./event-filters.tsx";
import { EVENT_SORTS, eventParams, toEventFilter } from "./event-params.ts";
import "./events.css";

/** Lists the events that people and programs marked on the time lines of a project's devices. */
export function EventsPage() {
  const projectId = useProjectId()!;
  const { data: me } = useMe();
  const params = useParams(eventParams);
  const { data: types = [] } = useQuery(eventTypes.list, {});
  const [openedMs] = useState(Date.now());
  const { sort, order, new: asked, add } = params.values;
  const [drawn, setDrawn] = useState(asked);
  const filter = toEventFilter(params.values, projectId, openedMs);
  const rows = useRows(events.list, { ...filter, sortBy: sort, sortOrder: order });
  const mayCreate = may(me, "events.create");
  const [isAdding, showAdd] = useAsked(add || asked.length > 0, () => params.set({ new: [], add: false }));
  const close = () => {
    showAdd(false);
    setDrawn([]);
  };
  useShortcuts(mayCreate ? [{ keys: "e", does: "Mark an event", run: () => showAdd(true) }] : []);
  return (
    <div class="events-page">
      <header class="row">
        <h1>Events</h1>
        <span class="grow" />
        <MovedNote moved={rows.moved} />
        {rows.count > 0 && <DatasetButton {...{ projectId, source: { kind: "events", filter } }} />}
        {mayCreate && <Button text="Mark an event" class="primary" onClick={() => showAdd(true)} />}
      </header>
      <UrlProblems problems={params.problems} />
      <EventFilters {...{ params, types }} />
      <ProgressLine isOn={rows.isLoading} />
      {rows.failure && <Failed failure={rows.failure} again={rows.again} />}
      {rows.count === 0 && !rows.isNew ? (
        <NoEvents params={params} />
      ) : (
        <List {...{ rows, params, types, projectId }} />
      )}
      {isAdding && <EventDialog {...{ projectId, drawn, onClose: close }} />}
    </div>
  );
}

type Params = UrlParams<typeof eventParams>;

function NoEvents({ params: { values, set } }: { params: Params }) {
  const isFiltered = Boolean(values.from || values.to || values.device || values.type || values.q);
  if (!isFiltered)
    return (
      <Empty title="No event is marked yet.">
        <p>Mark one here with “e”, on the coverage, or by a program: POST /v1/events.</p>
      </Empty>
    );
  return (
    <Empty title="No event matches the filters.">
      <Button text="Show all events" onClick={() => set({ from: "", to: "", device: "", type: "", q: "" })} />
    </Empty>
  );
}

interface ListProps {
  readonly rows: Rows<Event>;
  readonly params: Params;
  readonly types: readonly EventType[];
  readonly projectId: string;
}

function List({ rows, params: { values, set, hrefWith }, types, projectId }: ListProps) {
  const { route } = useLocation();
  const [selection, setSelection] = useSelection(hrefWith({ sort: "start", order: "desc", new: [], add: false }));
  const onSort = (by: string) => {
    const isTurned = by === values.sort && values.order === "desc";
    set({ sort: EVENT_SORTS.find((known) => known === by)!, order: isTurned ? "asc" : "desc" });
  };
  return (
    <>
      {selection.ids.size > 0 && (
        <SelectedEvents {...{ ids: [...selection.ids], projectId, onDone: () => setSelection(nothing) }} />
      )}
      <Table
        label="Events"
        columns={eventColumns({ projectId, types, zone: zoneName(zone.value) })}
        count={rows.isNew ? 8 : rows.count}
        rowAt={rows.at}
        onLook={rows.look}
        onOpen={({ id }) => route(pagePath(projectId, "events", id))}
        selection={selection}
        onToggle={({ id }) => setSelection(toggle(selection, id))}
        sort={{ by: values.sort, order: values.order }}
        onSort={onSort}
      />
    </>
  );
}

interface SelectedProps {
  readonly ids: readonly string[];
  readonly projectId: string;
  readonly onDone: () => void;
}

/** Makes a dataset of the selected events: an episode of each, of its time and the imported recordings of its device that touch it. */
function SelectedEvents({ ids, projectId, onDone }: SelectedProps) {
  return (
    <div class="selection-bar row">
      <strong>{ids.length} selected</strong>
      <Button text="Select none" class="small plain" onClick={onDone} />
      <span class="grow" />
      <DatasetButton {...{ projectId, source: { kind: "events", ids } }} class="small primary" />
    </div>
  );
}
