import { type Device, devices } from "@downlink/protocol";
import { deviceNamePattern } from "@downlink/protocol/device-name";
import { useLocation } from "preact-iso";
import { useChange } from "../api/use-change.ts";
import { Field } from "../parts/field.tsx";
import { Select } from "../parts/select.tsx";
import { TextField } from "../parts/text-field.tsx";
import { toast } from "../parts/toast.tsx";
import { pagePath } from "../url/project.ts";
import { deletionText, type RetentionUnit, retentionSeconds, typedRetention } from "./retention.ts";
import { SettingsForm } from "./settings-form.tsx";
import { useTyped } from "./use-typed.ts";

interface FormProps {
  readonly device: Device;
  readonly projectId: string;
  readonly mayChange: boolean;
  readonly onChanged: (isChanged: boolean) => void;
}

interface Typed {
  readonly name: string;
  readonly enabled: boolean;
  readonly autoDeleteAfterImport: boolean;
  readonly retention: string;
  readonly unit: RetentionUnit;
}

function toTyped({ name, enabled, autoDeleteAfterImport, retainRecordingsSeconds }: Device): Typed {
  const { text, unit } = typedRetention(retainRecordingsSeconds);
  return { name, enabled, autoDeleteAfterImport, retention: text, unit };
}

/** Edits the name of a device, whether it is enabled, and what it deletes. */
export function DeviceForm({ device, projectId, mayChange, onChanged }: FormProps) {
  const { route } = useLocation();
  const { typed, setTyped, noteSaved } = useTyped(toTyped(device), onChanged);
  const update = useChange(devices.update, devices.get, devices.list);
  const seconds = retentionSeconds(typed.retention, typed.unit);
  const edit = (changed: Partial<Typed>) => {
    setTyped({ ...typed, ...changed });
    update.clear();
  };
  const save = async () => {
    const { name, enabled, autoDeleteAfterImport } = typed;
    const changes = { name, enabled, autoDeleteAfterImport, retainRecordingsSeconds: seconds! };
    const saved = await update.run({ nameOrId: device.id, projectId, ...changes });
    if (!saved) return;
    noteSaved();
    toast("Saved.");
    if (name !== device.name) route(`${pagePath(projectId, "devices", name)}?tab=settings`, true);
  };
  const isNamed = deviceNamePattern.test(typed.name);
  return (
    <SettingsForm
      label="Device settings"
      title="The device"
      {...{ mayChange, isRunning: update.isRunning, failure: update.failure, onSubmit: save }}
      isWrong={seconds === undefined || !isNamed}
    >
      <TextField
        label="Name"
        problem={isNamed ? undefined : "A name has letters, digits and the characters _ . - only."}
        maxLength={100}
        autoComplete="off"
        value={typed.name}
        onChange={(name) => edit({ name })}
      />
      <label class="row check">
        <input type="checkbox" checked={typed.enabled} onChange={() => edit({ enabled: !typed.enabled })} />
        Enabled: its files are uploaded when they are requested
      </label>
      <DeletingFields {...{ typed, edit, seconds }} />
    </SettingsForm>
  );
}

interface PartProps {
  readonly typed: Typed;
  readonly edit: (changed: Partial<Typed>) => void;
}

function DeletingFields({ typed, edit, seconds }: PartProps & { seconds: number | undefined }) {
  const warns = typed.autoDeleteAfterImport || seconds !== 0;
  return (
    <>
      <label class="row check">
        <input
          type="checkbox"
          checked={typed.autoDeleteAfterImport}
          onChange={() => edit({ autoDeleteAfterImport: !typed.autoDeleteAfterImport })}
        />
        Delete imported files from the device
      </label>
      <Field
        label="Keep recordings on the device for"
        hint="Empty: for ever."
        problem={seconds === undefined ? "Enter a whole number, or nothing." : undefined}
      >
        {(attributes) => (
          <span class="row">
            <input
              {...attributes}
              inputMode="numeric"
              size={6}
              value={typed.retention}
              onInput={({ currentTarget }) => edit({ retention: currentTarget.value })}
            />
            <Select
              aria-label="Unit"
              value={typed.unit}
              choices={[
                ["hours", "hours"],
                ["days", "days"],
              ]}
              onChange={(unit) => edit({ unit })}
            />
          </span>
        )}
      </Field>
      {seconds !== undefined && (
        <p class={warns ? "warning" : "muted"} role="status">
          {deletionText({ retainSeconds: seconds, deletesImported: typed.autoDeleteAfterImport })}
        </p>
      )}
    </>
  );
}
