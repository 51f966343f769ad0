import { customProperties, type EventType, eventTypes } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { useQuery } from "../../api/use-query.ts";
import { Failed } from "../../parts/failed.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { TextField } from "../../parts/text-field.tsx";

type Uses = readonly { readonly id: string; readonly required: boolean }[];

interface FormProps {
  /** Absent for a new one. */
  readonly eventType?: EventType;
  readonly onClose: () => void;
}

export function EventTypeForm({ eventType, onClose }: FormProps) {
  const [name, setName] = useState(eventType?.name ?? "");
  const [colorName, setColorName] = useState(eventType?.colorName ?? "");
  const [uses, setUses] = useState<Uses>(eventType?.customProperties ?? []);
  const create = useChange(eventTypes.create, eventTypes.list);
  const update = useChange(eventTypes.update, eventTypes.list);
  const { isRunning, failure } = eventType ? update : create;
  const save = async () => {
    const given = { name, customProperties: uses.map((use) => ({ ...use })) };
    const done = eventType
      ? await update.run({ id: eventType.id, ...given, colorName: colorName || null })
      : await create.run({ ...given, ...(colorName && { colorName }) });
    if (done) onClose();
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title={eventType ? `Change ${eventType.name}` : "New event type"}
      deed={eventType ? "Change the type" : "Make the type"}
      onSubmit={save}
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={32} required />
      <TextField
        label="Colour"
        hint="The name of a colour, such as red. It may stay empty."
        value={colorName}
        onChange={setColorName}
        maxLength={32}
      />
      <PropertyUses {...{ uses, setUses }} />
    </FormDialog>
  );
}

/** Chooses the properties that are asked for when an event is marked, in the order in which they were chosen. */
function PropertyUses({ uses, setUses }: { uses: Uses; setUses: (uses: Uses) => void }) {
  const { data: me } = useMe();
  const isEnabled = mayCall(me, customProperties.list);
  const { data, failure } = useQuery(customProperties.list, { resourceType: "event" }, { isEnabled });
  const toggle = (id: string) =>
    setUses(
      uses.some((use) => use.id === id) ? uses.filter((use) => use.id !== id) : [...uses, { id, required: false }],
    );
  const require = (id: string) => setUses(uses.map((use) => (use.id === id ? { id, required: !use.required } : use)));
  return (
    <fieldset>
      <legend>Properties</legend>
      {failure && <Failed failure={failure} />}
      {data?.length === 0 && <p class="muted">There is no custom property of events yet.</p>}
      <div class="choices">
        {data?.map(({ id, label }) => {
          const use = uses.find((one) => one.id === id);
          return (
            <div key={id} class="row">
              <label class="choice">
                <input type="checkbox" checked={use !== undefined} onChange={() => toggle(id)} />
                {label}
              </label>
              {use && (
                <label class="choice">
                  <input
                    type="checkbox"
                    checked={use.required}
                    aria-label={`${label} is required`}
                    onChange={() => require(id)}
                  />
                  required
                </label>
              )}
            </div>
          );
        })}
      </div>
    </fieldset>
  );
}
