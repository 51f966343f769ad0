import { type CustomProperty, customProperties, PropertyResourceType, PropertyValueType } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { TextField } from "../../parts/text-field.tsx";

interface FormProps {
  /** Absent for a new one. */
  readonly property?: CustomProperty;
  readonly onClose: () => void;
}

/** Makes a property, or changes its label and adds to what it may hold. */
export function PropertyForm({ property, onClose }: FormProps) {
  const [key, setKey] = useState("");
  const [label, setLabel] = useState(property?.label ?? "");
  const [resourceType, setResourceType] = useState<PropertyResourceType>("device");
  const [valueType, setValueType] = useState<PropertyValueType>(property?.valueType ?? "string");
  const [values, setValues] = useState((property?.enumValues ?? []).join("\n"));
  const create = useChange(customProperties.create, customProperties.list);
  const update = useChange(customProperties.update, customProperties.list);
  const { isRunning, failure } = property ? update : create;
  const isEnum = valueType === "enum" || valueType === "multi-enum";
  const save = async () => {
    const enumValues = isEnum ? { enumValues: linesOf(values) } : {};
    const done = property
      ? await update.run({ id: property.id, label, ...enumValues })
      : await create.run({ key, label, resourceType, valueType, ...enumValues });
    if (done) onClose();
  };
  return (
    <FormDialog
      {...{ isRunning, failure, onClose }}
      title={property ? `Change ${property.label}` : "New property"}
      deed={property ? "Change the property" : "Make the property"}
      onSubmit={save}
    >
      <TextField label="Label" value={label} onChange={setLabel} maxLength={32} isRequired />
      {!property && (
        <Unchangeable {...{ typedKey: key, setKey, resourceType, setResourceType, valueType, setValueType }} />
      )}
      {isEnum && <EnumValues {...{ values, setValues, isNew: property === undefined }} />}
    </FormDialog>
  );
}

interface OnceProps {
  readonly typedKey: string;
  readonly setKey: (key: string) => void;
  readonly resourceType: PropertyResourceType;
  readonly setResourceType: (type: PropertyResourceType) => void;
  readonly valueType: PropertyValueType;
  readonly setValueType: (type: PropertyValueType) => void;
}

/** The fields that stay as they are once the property is made. */
function Unchangeable({ typedKey, setKey, resourceType, setResourceType, valueType, setValueType }: OnceProps) {
  return (
    <>
      <Field label="Key" hint="Letters, digits, _ and -. Queries use it, so it cannot be changed later.">
        {(attributes) => (
          <input
            {...attributes}
            value={typedKey}
            maxLength={32}
            pattern="[A-Za-z0-9_\-]+"
            required
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        )}
      </Field>
      <Field label="It describes">
        {(attributes) => (
          <select
            {...attributes}
            value={resourceType}
            onChange={({ currentTarget }) => setResourceType(PropertyResourceType.parse(currentTarget.value))}
          >
            {PropertyResourceType.options.map((one) => (
              <option key={one} value={one}>{`${one}s`}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label="It holds">
        {(attributes) => (
          <select
            {...attributes}
            value={valueType}
            onChange={({ currentTarget }) => setValueType(PropertyValueType.parse(currentTarget.value))}
          >
            {PropertyValueType.options.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )}
      </Field>
    </>
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

interface ValuesProps {
  readonly values: string;
  readonly setValues: (values: string) => void;
  readonly isNew: boolean;
}

function EnumValues({ values, setValues, isNew }: ValuesProps) {
  const hint = isNew ? undefined : "Values can be added and reordered, but not removed.";
  return (
    <Field label="Values, one a line" hint={hint}>
      {(attributes) => (
        <textarea
          {...attributes}
          rows={5}
          value={values}
          onInput={({ currentTarget }) => setValues(currentTarget.value)}
        />
      )}
    </Field>
  );
}
