import { type AgentSettings, agentSettings, type Device } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { Failed } from "../parts/failed.tsx";
import { Field } from "../parts/field.tsx";
import { toast } from "../parts/toast.tsx";
import { globProblem, type TypedSettings, toAgentSettings, toTyped } from "./agent-settings-text.ts";
import { rateWeek } from "./rate-week.ts";
import { WeekOfRates } from "./week-of-rates.tsx";

interface FormProps {
  readonly device: Device;
  readonly projectId: string;
  readonly stored: AgentSettings;
  readonly mayChange: boolean;
}

/** Edits the settings that the agent takes from here where its own configuration sets nothing. */
export function AgentSettingsForm({ device, projectId, stored, mayChange }: FormProps) {
  const [typed, setTyped] = useState<TypedSettings>(toTyped(stored));
  const put = useChange(agentSettings.put, agentSettings.get);
  const week = typed.uploadRate.trim() === "" ? undefined : rateWeek(typed.uploadRate);
  const problems = {
    globs: globProblem(typed.globs),
    rate: week && "problem" in week ? week.problem : undefined,
  };
  const edit = (changed: Partial<TypedSettings>) => {
    setTyped({ ...typed, ...changed });
    put.clear();
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const saved = await put.run({ nameOrId: device.id, projectId, ...toAgentSettings(typed) });
    if (saved) toast("Saved. The agent applies it with its next call.");
  };
  const isWrong = problems.globs !== undefined || problems.rate !== undefined;
  return (
    <form class="card stack" aria-label="Agent settings" onSubmit={(event) => void submit(event)}>
      <h2>Uploads of the agent</h2>
      <p class="muted">The device's own configuration takes precedence over these settings.</p>
      <fieldset class="stack" disabled={!mayChange}>
        <GlobsField {...{ typed, edit, problem: problems.globs }} />
        <RateField {...{ typed, edit, problem: problems.rate }} />
        {week && "days" in week && <WeekOfRates days={week.days} />}
        <ConcurrencyField {...{ typed, edit }} />
      </fieldset>
      {put.failure && <Failed failure={put.failure} />}
      {mayChange && (
        <div class="row">
          <button type="submit" class="primary" disabled={isWrong || put.isRunning}>
            {put.isRunning ? "Saving…" : "Save"}
          </button>
        </div>
      )}
    </form>
  );
}

interface FieldProps {
  readonly typed: TypedSettings;
  readonly edit: (changed: Partial<TypedSettings>) => void;
  readonly problem?: string | undefined;
}

function GlobsField({ typed, edit, problem }: FieldProps) {
  return (
    <Field
      label="Import without a request"
      hint="One pattern per line, for paths below the storage root: 2026-*/**.mcap. A leading ! excludes what matches."
      problem={problem}
    >
      {(attributes) => (
        <textarea
          {...attributes}
          rows={3}
          spellcheck={false}
          value={typed.globs}
          onInput={({ currentTarget }) => edit({ globs: currentTarget.value })}
        />
      )}
    </Field>
  );
}

function RateField({ typed, edit, problem }: FieldProps) {
  return (
    <Field
      label="Upload rate"
      hint="2MB/s, off, unlimited, or by the device's clock: Mon-Fri 08:00-18:00 1MB/s; * 10MB/s. The first rule that matches applies. Empty: no limit."
      problem={problem && `Cannot be used: ${problem}.`}
    >
      {(attributes) => (
        <input
          {...attributes}
          spellcheck={false}
          autoComplete="off"
          value={typed.uploadRate}
          onInput={({ currentTarget }) => edit({ uploadRate: currentTarget.value })}
        />
      )}
    </Field>
  );
}

function ConcurrencyField({ typed, edit }: FieldProps) {
  return (
    <Field label="Files at once" hint="1 to 16. Empty: the agent's default.">
      {(attributes) => (
        <input
          {...attributes}
          type="number"
          min={1}
          max={16}
          value={typed.concurrency}
          onInput={({ currentTarget }) => edit({ concurrency: currentTarget.value })}
        />
      )}
    </Field>
  );
}
