import {
  type Dataset,
  datasetMappings,
  type TrainingFormat,
  type TrainingMapping,
  trainingSets,
} from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { SelectField } from "../parts/select.tsx";
import { SubmitRow } from "../parts/submit-button.tsx";
import { TextField } from "../parts/text-field.tsx";
import { toast } from "../parts/toast.tsx";

type Missing = "fail" | "leaveOut";

const FORMATS: readonly (readonly [TrainingFormat, string])[] = [
  ["lerobot-v3", "LeRobot dataset, of the features"],
  ["parquet", "Parquet tables, of the topics"],
];

const MISSING: readonly (readonly [Missing, string])[] = [
  ["fail", "build no set"],
  ["leaveOut", "leave these episodes out"],
];

interface BuildProps {
  readonly dataset: Dataset;
  readonly versionNumber: number;
  /** The name of the mapping on which the text is based; undefined for a draft. */
  readonly keptName: string | undefined;
  /** Undefined while the text has faults. */
  readonly mapping: TrainingMapping | undefined;
  readonly format: TrainingFormat;
  readonly onFormat: (format: TrainingFormat) => void;
  readonly onKept: (mappingId: string) => void;
}

/** Keeps the mapping under a name, and builds a set of the version with it. */
export function BuildForm({ dataset, versionNumber, keptName, mapping, format, onFormat, onKept }: BuildProps) {
  const [typedName, setName] = useState<string | undefined>();
  const [missing, setMissing] = useState<Missing>("fail");
  const [days, setDays] = useState("30");
  const keep = useChange(datasetMappings.create, datasetMappings.list);
  const create = useChange(trainingSets.create, trainingSets.list);
  const name = typedName ?? keptName ?? dataset.name;
  const build = async () => {
    create.clear();
    const kept = mapping && (await keep.run({ id: dataset.id, name, mapping }));
    if (!kept) return;
    onKept(kept.id);
    const answer = { id: dataset.id, versionNumber, mappingId: kept.id, format, missing, keepDays: Number(days) };
    const set = await create.run(answer);
    if (set)
      toast(set.state === "ready" ? "This set is there already." : `A set of version ${versionNumber} is being built.`);
  };
  const onSubmit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    void build();
  };
  return (
    <section class="card stack" aria-labelledby="build-title">
      <h2 id="build-title">Build a training set</h2>
      <form class="stack" onSubmit={onSubmit}>
        <div class="build-fields">
          <TextField
            label="Keep the mapping as"
            hint="Another text under the same name is its next revision."
            {...{ value: name, onChange: setName, maxLength: 100, required: true }}
          />
          <SelectField label="Format, also of a trial" value={format} choices={FORMATS} onChange={onFormat} />
          <SelectField label="If data of episodes is missing" value={missing} choices={MISSING} onChange={setMissing} />
          <TextField
            label="Days for which it is kept"
            type="number"
            {...{ min: 1, max: 365, required: true, value: days, onChange: setDays }}
          />
        </div>
        <SubmitRow
          text="Build"
          isRunning={keep.isRunning || create.isRunning}
          failure={keep.failure ?? create.failure}
          isDisabled={!mapping}
        >
          <span class="muted">
            {mapping
              ? "The same version and mapping give the same files."
              : "The mapping has faults, which are named beside it."}
          </span>
        </SubmitRow>
      </form>
    </section>
  );
}
