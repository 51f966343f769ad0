import {
  type Dataset,
  datasets,
  datasetVersions,
  type TrainingFormat,
  type TrainingMapping,
  trainingSets,
} from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { usePages } from "../api/use-pages.ts";
import { useQuery } from "../api/use-query.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useLeaveGuard } from "../parts/leave-guard.tsx";
import { Select } from "../parts/select.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { countParam } from "../url/params.ts";
import { pagePath, useProjectId } from "../url/project.ts";
import { useParams } from "../url/use-params.ts";
import "../parts/plain-table.css";
import { BuildForm } from "./build-form.tsx";
import { MappingEditor } from "./mapping-editor.tsx";
import { formatMapping } from "./mapping-text.ts";
import { SetList } from "./set-list.tsx";
import type { Trial } from "./sum-up-parts.ts";
import "./training.css";
import { TrialReport } from "./trial-report.tsx";
import { useMapping } from "./use-mapping.ts";

/** The parameter in the address; 0 stands for the latest committed version. */
const trainingParams = { version: countParam(0) };

/** Makes training sets of a committed version of a dataset: a mapping is edited, tried and kept, and sets are built with it. */
export function TrainingPage() {
  const projectId = useProjectId()!;
  const id = useRoute().params.id!;
  const { data: dataset, failure, again } = useQuery(datasets.get, { id });
  const { values, set, problems } = useParams(trainingParams);
  const versions = usePages(datasetVersions.list, { id, sortOrder: "desc" }, { rowsOf: (output) => output.versions });
  if (failure && !dataset) return <Failed {...{ failure, again }} />;
  if (!dataset || versions.isNew) return versions.failure ? <Failed {...versions} failure={versions.failure} /> : null;
  const committed = versions.rows.filter(({ committedAt }) => committedAt !== undefined);
  const numbers = committed.map(({ versionNumber }) => versionNumber);
  const versionNumber = values.version || numbers[0];
  const home = `${pagePath(projectId, "datasets", id)}${versionNumber === undefined ? "" : `?version=${versionNumber}`}`;
  return (
    <div class="stack">
      <header class="row">
        <h1>
          Training data of{" "}
          <a href={home}>
            <ForeignText text={dataset.name} />
          </a>
        </h1>
        {numbers.includes(versionNumber!) && (
          <Select
            aria-label="Version"
            value={String(versionNumber)}
            choices={numbers.map((one) => [String(one), `version ${one}`] as const)}
            onChange={(one) => set({ version: Number(one) })}
          />
        )}
      </header>
      <UrlProblems problems={problems} />
      {numbers.includes(versionNumber!) ? (
        <Workplace {...{ dataset, projectId, versionNumber: versionNumber! }} />
      ) : (
        <Empty title={values.version ? `Version ${values.version} is not committed.` : "No version is committed yet."}>
          <p>
            A training set is made of a committed version.{" "}
            <a href={pagePath(projectId, "datasets", id)}>To the dataset</a>
          </p>
        </Empty>
      )}
    </div>
  );
}

/** The service tries for a minute at most, after another one for which it may wait; its answer has pictures. */
const TRY_TIMEOUT_MS = 150_000;

interface WorkProps {
  readonly dataset: Dataset;
  readonly projectId: string;
  readonly versionNumber: number;
}

interface Tried {
  readonly trial: Trial;
  readonly mapping: TrainingMapping;
  readonly format: TrainingFormat;
  readonly versionNumber: number;
}

function Workplace({ dataset, projectId, versionNumber }: WorkProps) {
  const { id } = dataset;
  const { data: me } = useMe();
  const edited = useMapping(id, versionNumber);
  const question = useLeaveGuard(edited.isChanged);
  const [tried, setTried] = useState<Tried | undefined>();
  const { run, isRunning, failure } = useChange(trainingSets.tryOut);
  const { mapping } = edited;
  const [wanted, setWanted] = useState<TrainingFormat | undefined>();
  const format = wanted ?? (mapping && !mapping.features ? "parquet" : "lerobot-v3");
  const onTry = async () => {
    if (!mapping) return;
    const trial = await run({ id, versionNumber, mapping, format }, { timeoutMs: TRY_TIMEOUT_MS });
    if (trial) setTried({ trial, mapping, format, versionNumber });
  };
  const keptName = edited.kept.rows.find((one) => one.id === edited.chosenId)?.name;
  return (
    <>
      <MappingEditor {...{ mapping: edited, isTrying: isRunning, failure, onTry: () => void onTry() }} />
      <TrialCard
        {...{ tried: tried?.versionNumber === versionNumber ? tried : undefined, isRunning, projectId, mapping }}
      />
      {may(me, "datasets.update") && (
        <BuildForm
          {...{ dataset, versionNumber, keptName, mapping, format, onFormat: setWanted, onKept: edited.take }}
        />
      )}
      <SetList {...{ dataset, mappings: edited.kept.rows }} />
      {question}
    </>
  );
}

interface CardProps {
  readonly tried: Tried | undefined;
  readonly isRunning: boolean;
  readonly projectId: string;
  /** The mapping as it is now; undefined where it has faults. */
  readonly mapping: TrainingMapping | undefined;
}

function TrialCard({ tried, isRunning, projectId, mapping }: CardProps) {
  if (!tried && !isRunning) return null;
  const isOld = tried && !isRunning && (!mapping || formatMapping(mapping) !== formatMapping(tried.mapping));
  return (
    <section class="card stack" aria-labelledby="trial-title" aria-busy={isRunning}>
      <h2 id="trial-title">What it gives</h2>
      {isRunning && (
        <p class="row" role="status">
          <progress aria-label="The mapping is being tried" /> Reading some episodes of the version. This takes a minute
          at most.
        </p>
      )}
      {tried && <TrialReport {...tried} {...{ projectId, isOld: isOld === true }} />}
    </section>
  );
}
