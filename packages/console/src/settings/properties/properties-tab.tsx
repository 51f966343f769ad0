import { type CustomProperty, customProperties } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useRows } from "../../api/use-rows.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { showHidden } from "../../parts/show-hidden.ts";
import type { Column } from "../../parts/table.tsx";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { PropertyForm } from "./property-form.tsx";

type Deed = { readonly is: "make" } | { readonly is: "edit" | "delete"; readonly property: CustomProperty } | undefined;

export function PropertiesTab() {
  const { data: me } = useMe();
  const rows = useRows(customProperties.list, {}, { isEnabled: mayCall(me, customProperties.list) });
  const [deed, setDeed] = useState<Deed>();
  const onClose = () => setDeed(undefined);
  const items = (property: CustomProperty): RowActions => [
    mayCall(me, customProperties.update) && { text: "Change…", onChoose: () => setDeed({ is: "edit", property }) },
    mayCall(me, customProperties.delete) && {
      text: "Delete…",
      isDangerous: true,
      onChoose: () => setDeed({ is: "delete", property }),
    },
  ];
  const action = mayCall(me, customProperties.create) && (
    <Button text="New property" class="primary" onClick={() => setDeed({ is: "make" })} />
  );
  return (
    <SettingsFrame segment="properties" action={action}>
      <ResourceList
        label="Custom properties"
        rows={rows}
        columns={columnsOf(items)}
        none="There is no custom property."
      >
        <p>
          A property, such as the site of a robot, describes devices, events or sessions, which can then be found by it.
        </p>
      </ResourceList>
      {deed?.is === "make" && <PropertyForm onClose={onClose} />}
      {deed?.is === "edit" && <PropertyForm property={deed.property} onClose={onClose} />}
      {deed?.is === "delete" && <DeleteProperty property={deed.property} onClose={onClose} />}
    </SettingsFrame>
  );
}

function DeleteProperty({ property, onClose }: { property: CustomProperty; onClose: () => void }) {
  const { id, key, label, resourceType, hasAssociatedData } = property;
  const takesValues = resourceType === "device" && hasAssociatedData;
  return (
    <DeleteDialog
      operation={customProperties.delete}
      input={{ id }}
      stale={[customProperties.list]}
      title={`Delete ${label}?`}
      deed={takesValues ? "Delete the property and all its values" : "Delete the property"}
      done={`${label} is deleted.`}
      typedName={takesValues ? key : undefined}
      onClose={onClose}
    >
      <p>
        {takesValues
          ? "All its values, current and former, are deleted from the devices with it. This cannot be undone."
          : `No ${resourceType} may have a value of it; otherwise the deletion is refused.`}
      </p>
    </DeleteDialog>
  );
}

function columnsOf(items: (property: CustomProperty) => RowActions): readonly Column<CustomProperty>[] {
  return [
    { name: "Label", width: "minmax(120px, 1fr)", narrow: "title", cell: ({ label }) => label },
    { name: "Key", width: "minmax(100px, 1fr)", narrow: "sub", cell: ({ key }) => <code>{key}</code> },
    { name: "Of", width: "80px", narrow: "sub-end", cell: ({ resourceType }) => `${resourceType}s` },
    {
      name: "Holds",
      width: "minmax(130px, 2fr)",
      cell: ({ valueType, enumValues }) => (
        <span title={enumValues && showHidden(enumValues.join(", "))}>
          {valueType}
          {enumValues ? `: ${enumValues.join(", ")}` : ""}
        </span>
      ),
    },
    { name: "In use", width: "70px", cell: ({ hasAssociatedData }) => (hasAssociatedData ? "yes" : "no") },
    actionsColumn<CustomProperty>({ nameOf: ({ label }) => label, items }),
  ];
}
