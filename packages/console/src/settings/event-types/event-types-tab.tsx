import { type EventType, eventTypes } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useRows } from "../../api/use-rows.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import type { Column } from "../../parts/table.tsx";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { EventTypeForm } from "./event-type-form.tsx";

type Deed = { readonly is: "make" } | { readonly is: "edit" | "delete"; readonly eventType: EventType } | undefined;

/** Lists the kinds of events, and what each is described by. */
export function EventTypesTab() {
  const { data: me } = useMe();
  const rows = useRows(eventTypes.list, {}, { isEnabled: mayCall(me, eventTypes.list) });
  const [deed, setDeed] = useState<Deed>();
  const onClose = () => setDeed(undefined);
  const items = (eventType: EventType): RowActions => [
    mayCall(me, eventTypes.update) && { text: "Change…", onChoose: () => setDeed({ is: "edit", eventType }) },
    mayCall(me, eventTypes.delete) && {
      text: "Delete…",
      isDangerous: true,
      onChoose: () => setDeed({ is: "delete", eventType }),
    },
  ];
  const action = mayCall(me, eventTypes.create) && (
    <Button text="New event type" class="primary" onClick={() => setDeed({ is: "make" })} />
  );
  return (
    <SettingsFrame segment="event-types" action={action}>
      <ResourceList label="Event types" rows={rows} columns={columnsOf(items)} none="There is no event type.">
        <p>A type gives events a name, a colour, and the properties to fill in when one is marked.</p>
      </ResourceList>
      {deed?.is === "make" && <EventTypeForm onClose={onClose} />}
      {deed?.is === "edit" && <EventTypeForm eventType={deed.eventType} onClose={onClose} />}
      {deed?.is === "delete" && (
        <DeleteDialog
          operation={eventTypes.delete}
          input={{ id: deed.eventType.id }}
          stale={[eventTypes.list]}
          title={`Delete ${deed.eventType.name}?`}
          deed="Delete the event type"
          done={`${deed.eventType.name} is deleted.`}
          onClose={onClose}
        >
          <p>It can be deleted only while no event has it. Its properties stay.</p>
        </DeleteDialog>
      )}
    </SettingsFrame>
  );
}

function columnsOf(items: (eventType: EventType) => RowActions): readonly Column<EventType>[] {
  return [
    { name: "Name", width: "minmax(120px, 1fr)", narrow: "title", cell: ({ name }) => name },
    { name: "Colour", width: "100px", narrow: "sub-end", cell: ({ colorName }) => colorName ?? "—" },
    {
      name: "Properties",
      width: "minmax(160px, 2fr)",
      narrow: "sub",
      cell: ({ properties }) =>
        properties.map(({ label, required }) => `${label}${required ? " (required)" : ""}`).join(", ") || "—",
    },
    actionsColumn<EventType>({ nameOf: ({ name }) => name, items }),
  ];
}
