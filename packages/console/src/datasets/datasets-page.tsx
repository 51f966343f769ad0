import { datasets } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { Empty } from "../parts/empty.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { MoreRows } from "../parts/more-rows.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Age } from "../parts/time.tsx";
import { TypedFilter } from "../parts/typed-filter.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { flagParam, textParam } from "../url/params.ts";
import { pagePath, useProjectId } from "../url/project.ts";
import { useAsked } from "../url/use-asked.ts";
import { useParams } from "../url/use-params.ts";
import "../parts/plain-table.css";
import "./datasets.css";
import { TextField } from "../parts/text-field.tsx";

export function DatasetsPage() {
  const projectId = useProjectId()!;
  const { data: me } = useMe();
  const { values, set, problems } = useParams({ q: textParam, add: flagParam });
  const query = { projectId, ...(values.q && { name: values.q }), sortBy: "name" as const, limit: 100 };
  const pages = usePages(datasets.list, query, { rowsOf: (rows) => rows });
  const mayAdd = may(me, "datasets.create");
  const [isAdding, showAdd] = useAsked(values.add, () => set({ add: false }));
  return (
    <div class="stack">
      <header class="row">
        <h1>Datasets</h1>
        <a href={pagePath(projectId, "episodes")}>Episodes</a>
        <span class="grow" />
        {mayAdd && <Button text="New dataset" class="primary" onClick={() => showAdd(true)} />}
      </header>
      <UrlProblems problems={problems} />
      <search>
        <TypedFilter label="Name contains" value={values.q} onChange={(q) => set({ q })} isSearch />
      </search>
      {pages.rows.length > 0 && (
        <table class="plain-table card">
          <thead>
            <tr>
              <th>Name</th>
              <th class="number">Episodes</th>
              <th>Changed</th>
            </tr>
          </thead>
          <tbody>
            {pages.rows.map(({ id, name, description, episodeCount, updatedAt }) => (
              <tr key={id}>
                <td>
                  <a href={pagePath(projectId, "datasets", id)}>
                    <ForeignText text={name} />
                  </a>
                  {description && <p class="muted">{showHidden(description)}</p>}
                </td>
                <td class="number">{formatCount(episodeCount)}</td>
                <td>
                  <Age timeNs={updatedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {pages.rows.length === 0 && !pages.isNew && <NoDatasets isFiltered={values.q !== ""} />}
      <MoreRows pages={pages} />
      {isAdding && <NewDataset projectId={projectId} onClose={() => showAdd(false)} />}
    </div>
  );
}

function NoDatasets({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No dataset has a name like that." />;
  return (
    <Empty title="There is no dataset yet.">
      <p>A dataset holds episodes: slices of recordings. Make them from events, or by a program.</p>
    </Empty>
  );
}

function NewDataset({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const { run, isRunning, failure } = useChange(datasets.create, datasets.list);
  const make = async () => {
    const made = await run({ projectId, name, description: description || null });
    if (made) route(pagePath(projectId, "datasets", made.id), true); // Back leads to the list without the dialog
  };
  return (
    <FormDialog {...{ isRunning, failure, onClose }} title="New dataset" deed="Create" onSubmit={make}>
      <TextField label="Name" value={name} onChange={setName} maxLength={100} required />
      <TextField label="Description" value={description} onChange={setDescription} maxLength={500} lines={3} />
    </FormDialog>
  );
}
