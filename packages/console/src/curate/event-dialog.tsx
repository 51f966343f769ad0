import { type Event, events, eventTypes } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange, useManyChanges } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { FormDialog } from "../parts/form-dialog.tsx";
import { toast } from "../parts/toast.tsx";
import { formatExact, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { EventFieldset } from "./event-fieldset.tsx";
import { type EventFields, type ReadEvent, readEvent, writeMetadata } from "./event-form-values.ts";

interface DialogProps {
  readonly projectId: string;
  /** An event that exists; absent for a new one. */
  readonly event?: Event;
  /** Start, end and device of a new one that was drawn on a time line; further devices each get one, too. */
  readonly drawn?: readonly string[];
  readonly onClose: () => void;
}

/** Marks an event, or changes one. Typed values stay when the event cannot be saved. */
export function EventDialog({ projectId, event, drawn = [], onClose }: DialogProps) {
  const [fields, setFields] = useState<EventFields>(event ? fieldsOf(event) : emptyFields(drawn));
  const [isTried, setTried] = useState(false);
  const { data: types = [] } = useQuery(eventTypes.list, {});
  const create = useManyChanges(events.create, events.list);
  const update = useChange(events.update, events.list, events.get);
  const [devices, setDevices] = useState(drawn.slice(2)); // those that have none yet
  const type = types.find(({ id }) => id === fields.eventTypeId);
  const isRunning = update.isRunning || create.progress !== undefined;
  const failure = event ? update.failure : create.failure;
  const read = readEvent(fields, { type, zone: zoneName(zone.value), nowMs: Date.now() });
  const problems = isTried ? read.problems : {};
  const save = async () => {
    setTried(true);
    if (!read.event) return;
    const done = event ? await change(event.id, read.event) : await mark(read.event);
    if (done === undefined) return;
    toast(done);
    onClose();
  };
  const change = async (id: string, read: ReadEvent) =>
    (await update.run({ id, ...changesOf(read) })) && "The event was changed.";
  const mark = async (read: ReadEvent) => {
    const names = devices.length > 1 ? devices : [read.deviceName];
    const failed = await create.run(names.map((deviceName) => ({ projectId, ...read, deviceName })));
    const [first] = failed;
    if (first === undefined) return names.length > 1 ? `${names.length} events were marked.` : "The event was marked.";
    const left = failed.map(({ deviceName }) => deviceName!);
    setDevices(left); // another try marks no event twice
    setFields({ ...fields, deviceName: left[0]! });
    return undefined;
  };
  return (
    <FormDialog
      title={event ? "Change the event" : "Mark an event"}
      deed={event ? "Save" : "Mark"}
      {...{ isRunning, failure, onClose, onSubmit: save }}
    >
      <EventFieldset {...{ fields, problems, types, type, devices, isNew: !event, onChange: setFields }} />
    </FormDialog>
  );
}

/** Returns the changes of an event. It stays on its device; an empty text removes its type. */
function changesOf({ start, end, metadata, properties, eventTypeId = "" }: ReadEvent) {
  return { start, end, metadata, properties, eventTypeId };
}

function fieldsOf({ device, start, end, eventTypeId = "", metadata, properties = {} }: Event): EventFields {
  const texts = Object.entries(properties).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.join(", ") : String(value),
  ]);
  return {
    ...{ deviceName: device.name, eventTypeId, metadata: writeMetadata(metadata) },
    ...{ start: formatExact(start), end: formatExact(end), properties: Object.fromEntries(texts) },
  };
}

function emptyFields([start = "", end = "", deviceName = ""]: readonly string[]): EventFields {
  return { deviceName, start, end, eventTypeId: "", metadata: "", properties: {} };
}
