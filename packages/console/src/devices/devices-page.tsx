import { devices } from "@downlink/protocol";
import { useLocation } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { isIn, TROUBLE_WORDS, type Trouble } from "../fleet/troubles.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { ProgressLine } from "../parts/progress-line.tsx";
import { Table } from "../parts/table.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { pagePath, useProjectId } from "../url/project.ts";
import { useAsked } from "../url/use-asked.ts";
import { type UrlParams, useParams } from "../url/use-params.ts";
import { AddDevice } from "./add-device.tsx";
import { columnsOf } from "./device-columns.tsx";
import "./devices.css";
import { listParams, SORTS } from "./list-params.ts";

const POLL_MS = 15_000;
/** The most that one answer holds; a search finds the others. */
const MOST = 2000;

/** Lists all devices of a project, those in trouble first. */
export function DevicesPage() {
  const projectId = useProjectId()!;
  const { data: me } = useMe();
  const params = useParams(listParams);
  const { add, show } = params.values;
  const mayAdd = may(me, "devices.create") && may(me, "deviceTokens.create");
  const [isAdding, showAdd] = useAsked(add, () => params.set({ add: false }));
  useShortcuts(mayAdd ? [{ keys: "a", does: "Add a device", run: () => showAdd(true) }] : []);
  return (
    <div class="devices-page">
      <header class="row">
        <h1>Devices</h1>
        <span class="grow" />
        {show !== "all" && (
          <Button text={`✕ only ${TROUBLE_WORDS[show]}`} onClick={() => params.set({ show: "all" })} />
        )}
        <search>
          <TypedFilter
            isSearch
            label="Name contains"
            value={params.values.q}
            onChange={(q) => params.set({ q: q.trim() })}
          />
        </search>
        {mayAdd && <Button text="Add a device" class="primary" onClick={() => showAdd(true)} />}
      </header>
      <UrlProblems problems={params.problems} />
      <List {...{ params, projectId, mayAdd }} />
      {isAdding && mayAdd && <AddDevice projectId={projectId} onClose={() => showAdd(false)} />}
    </div>
  );
}

interface ListProps {
  readonly params: UrlParams<typeof listParams>;
  readonly projectId: string;
  readonly mayAdd: boolean;
}

function List({ params: { values, set }, projectId, mayAdd }: ListProps) {
  const { route } = useLocation();
  const { q, sort, order, show } = values;
  const input = { projectId, ...(q && { nameMatches: q }), sortBy: sort, sortOrder: order, limit: MOST };
  const { data: all, failure, again, isLoading } = useQuery(devices.list, input, { pollMs: POLL_MS });
  const data = show === "all" ? all : all?.filter((device) => isIn(show, device));
  const onSort = (by: string) => {
    const chosen = SORTS.find((known) => known === by)!;
    if (chosen === sort) set({ order: order === "desc" ? "asc" : "desc" });
    else set({ sort: chosen, order: chosen === "problems" ? "desc" : "asc" });
  };
  return (
    <>
      <ProgressLine isOn={isLoading} />
      {failure && <Failed failure={failure} again={again} />}
      {all && all.length >= MOST && (
        <p class="muted">The first {formatCount(MOST)}; a part of the name finds others.</p>
      )}
      {data?.length === 0 ? (
        <NoDevices {...{ q, show, mayAdd, onEverything: () => set({ q: "", show: "all" }) }} />
      ) : (
        <Table
          label="Devices"
          columns={columnsOf(projectId)}
          count={data?.length ?? 8}
          rowAt={(index) => data?.[index]}
          onOpen={({ name }) => route(pagePath(projectId, "devices", name))}
          sort={{ by: sort, order }}
          onSort={onSort}
        />
      )}
    </>
  );
}

interface NoneProps {
  readonly q: string;
  readonly show: Trouble | "all";
  readonly mayAdd: boolean;
  readonly onEverything: () => void;
}

function NoDevices({ q, show, mayAdd, onEverything }: NoneProps) {
  if (q === "" && show === "all")
    return <Empty title="There is no device yet.">{mayAdd && <p>Add one: it takes a name and two commands.</p>}</Empty>;
  const title = show === "all" ? `No device has “${q}” in its name.` : "No such device is in this trouble now.";
  return (
    <Empty title={title}>
      <Button text="Show all devices" class="small" onClick={onEverything} />
    </Empty>
  );
}
