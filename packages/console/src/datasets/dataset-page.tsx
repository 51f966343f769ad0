import { type Dataset, datasets, datasetVersions } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { usePages } from "../api/use-pages.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { UrlProblems } from "../parts/url-problems.tsx";
import { countParam, textParam } from "../url/params.ts";
import { pagePath, useProjectId } from "../url/project.ts";
import { useParams } from "../url/use-params.ts";
import { Comparison } from "./comparison.tsx";
import "../parts/plain-table.css";
import "./datasets.css";
import { StagedChanges } from "./staged-changes.tsx";
import { VersionBar } from "./version-bar.tsx";
import { VersionEpisodes } from "./version-episodes.tsx";
import { editableOf, usualVersion } from "./versions.ts";

/** The parameters in the address of a dataset; 0 stands for the usual version, and for no comparison. */
const datasetParams = { version: countParam(0), compare: countParam(0), q: textParam };

/** Shows one dataset: its versions, their episodes, the staged changes, and the comparison of two versions. */
export function DatasetPage() {
  const projectId = useProjectId()!;
  const id = useRoute().params.id!;
  const { data: dataset, failure, again } = useQuery(datasets.get, { id });
  const params = useParams(datasetParams);
  const versions = usePages(datasetVersions.list, { id, sortOrder: "desc" }, { rowsOf: (output) => output.versions });
  if (failure && !dataset) return <Failed {...{ failure, again }} />;
  if (!dataset) return null;
  const { version: wanted, compare } = params.values;
  const versionOf = (wantedNumber: number) => versions.rows.find(({ versionNumber }) => versionNumber === wantedNumber);
  const shown = versionOf(wanted) ?? usualVersion(versions.rows);
  const base = versionOf(compare);
  return (
    <div class="stack">
      <Header {...{ dataset, projectId }} />
      <UrlProblems problems={params.problems} />
      <StagedChanges {...{ id, editable: editableOf(versions.rows), set: params.set }} />
      {versions.failure && <Failed failure={versions.failure} again={versions.again} />}
      {shown && (
        <>
          <VersionBar {...{ id, versions: versions.rows, shown, compare, set: params.set }} />
          {base ? (
            <Comparison {...{ id, projectId, from: base, to: shown }} />
          ) : (
            <VersionEpisodes {...{ id, projectId, version: shown, q: params.values.q, set: params.set }} />
          )}
        </>
      )}
    </div>
  );
}

function Header({ dataset, projectId }: { dataset: Dataset; projectId: string }) {
  const { data: me } = useMe();
  const { route } = useLocation();
  const [isOpen, setOpen] = useState(false);
  return (
    <header class="row">
      <div>
        <h1>
          <ForeignText text={dataset.name} />
        </h1>
        {dataset.description && <p class="muted">{showHidden(dataset.description)}</p>}
      </div>
      <span class="grow" />
      {may(me, "datasets.delete") && <Button text="Delete" class="danger" onClick={() => setOpen(true)} />}
      {isOpen && (
        <DeleteDialog
          operation={datasets.delete}
          input={{ id: dataset.id }}
          stale={[datasets.list]}
          title="Delete the dataset"
          deed="Delete with all its versions"
          done={`${dataset.name} was deleted.`}
          typedName={dataset.name}
          onClose={() => setOpen(false)}
          onDone={() => route(pagePath(projectId, "datasets"))}
        >
          <p>All versions of the dataset are deleted. Its episodes and their recordings stay.</p>
        </DeleteDialog>
      )}
    </header>
  );
}
