import { type CustomProperty, customProperties, PropertyResourceType, PropertyValueType } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../../api/use-change.ts";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { SelectField } from "../../parts/select.tsx";
import { splitTrimmed } from "../../parts/split-trimmed.ts";
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
    const enumValues = isEnum ? { enumValues: splitTrimmed(values, "\n") } : {};
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
      <TextField label="Label" value={label} onChange={setLabel} maxLength={32} required />
      {!property && (
        <Unchangeable {...{ typedKey: key, setKey, resourceType, setResourceType, valueType, setValueType }} />
      )}
      {isEnum && (
        <TextField
          label="Values, one a line"
          hint={property && "Values can be added and reordered, but not removed."}
          lines={5}
          value={values}
          onChange={setValues}
        />
      )}
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
      <TextField
        label="Key"
        hint="Letters, digits, _ and -. Queries use it, so it cannot be changed later."
        value={typedKey}
        onChange={setKey}
        maxLength={32}
        pattern="[A-Za-z0-9_\-]+"
        required
      />
      <SelectField
        label="It describes"
        value={resourceType}
        choices={PropertyResourceType.options.map((one) => [one, `${one}s`])}
        onChange={setResourceType}
      />
      <SelectField
        label="It holds"
        value={valueType}
        choices={PropertyValueType.options.map((one) => [one, one])}
        onChange={setValueType}
      />
    </>
  );
}
