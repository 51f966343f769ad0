import { type AgentSettings, agentSettings, type Device } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { TextField } from "../parts/text-field.tsx";
import { toast } from "../parts/toast.tsx";
import { globProblem, type TypedSettings, toAgentSettings, toTyped } from "./agent-settings-text.ts";
import { rateWeek } from "./rate-week.ts";
import { SettingsForm } from "./settings-form.tsx";
import { useTyped } from "./use-typed.ts";
import { WeekOfRates } from "./week-of-rates.tsx";

interface FormProps {
  readonly device: Device;
  readonly projectId: string;
  readonly stored: AgentSettings;
  readonly mayChange: boolean;
  readonly onChanged: (isChanged: boolean) => void;
}

/** Edits the settings that the agent takes from here where its own configuration sets nothing. */
export function AgentSettingsForm({ device, projectId, stored, mayChange, onChanged }: FormProps) {
  const { typed, setTyped, noteSaved } = useTyped<TypedSettings>(toTyped(stored), onChanged);
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
  const save = async () => {
    const saved = await put.run({ nameOrId: device.id, projectId, ...toAgentSettings(typed) });
    if (!saved) return;
    noteSaved();
    toast("Saved. The agent applies it with its next call.");
  };
  const isWrong = problems.globs !== undefined || problems.rate !== undefined;
  return (
    <SettingsForm
      label="Agent settings"
      title="Uploads of the agent"
      note="The device's own configuration takes precedence over these settings."
      {...{ mayChange, isWrong, isRunning: put.isRunning, failure: put.failure, onSubmit: save }}
    >
      <TextField
        label="Import without a request"
        hint="One pattern per line, for paths below the storage root: 2026-*/**.mcap. A leading ! excludes what matches."
        problem={problems.globs}
        lines={3}
        spellcheck={false}
        value={typed.globs}
        onChange={(globs) => edit({ globs })}
      />
      <TextField
        label="Upload rate"
        hint="2MB/s, off, unlimited, or by the device's clock: Mon-Fri 08:00-18:00 1MB/s; * 10MB/s. The first rule that matches applies. Empty: no limit."
        problem={problems.rate && `Cannot be used: ${problems.rate}.`}
        spellcheck={false}
        autoComplete="off"
        value={typed.uploadRate}
        onChange={(uploadRate) => edit({ uploadRate })}
      />
      {week && "days" in week && <WeekOfRates days={week.days} />}
      <ConcurrencyField {...{ typed, edit }} />
    </SettingsForm>
  );
}

interface FieldProps {
  readonly typed: TypedSettings;
  readonly edit: (changed: Partial<TypedSettings>) => void;
}

function ConcurrencyField({ typed, edit }: FieldProps) {
  return (
    <TextField
      label="Files at once"
      hint="1 to 16. Empty: the agent's default."
      type="number"
      min={1}
      max={16}
      value={typed.concurrency}
      onChange={(concurrency) => edit({ concurrency })}
    />
  );
}
