import { type Event, events, eventTypes, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { EventDialog } from "../curate/event-dialog.tsx";
import { ExportDialog } from "../export/export-dialog.tsx";
import { sourceOfDevices } from "../export/export-source.ts";
import { OpenButton } from "../export/open-button.tsx";
import { StatusBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { Pictures } from "../parts/picture-at.tsx";
import { ZonedTime } from "../parts/time.tsx";
import { formatDuration } from "../time/format-time.ts";
import { minuteText } from "../time/zone.ts";
import { pagePath, useProjectId } from "../url/project.ts";
import "./events.css";

/** Shows one event: its facts, and the recordings that it touches. */
export function EventPage() {
  const projectId = useProjectId()!;
  const { id } = useRoute().params;
  const { data: event, failure, again } = useQuery(events.get, { id: id! });
  if (failure && !event) return <Failed {...{ failure, again }} />;
  if (!event) return null;
  return (
    <div class="stack">
      <Header {...{ event, projectId }} />
      <section class="card">
        <Facts
          facts={[
            [
              "Device",
              <a href={pagePath(projectId, "devices", event.device.name)}>
                <ForeignText text={event.device.name} />
              </a>,
            ],
            ["Start", <ZonedTime timeNs={event.start} />],
            ["End", <ZonedTime timeNs={event.end} />],
            ["Lasts", event.start === event.end ? "a moment" : formatDuration(event.end - event.start)],
            ...Object.entries({ ...event.properties, ...event.metadata }).map(
              ([key, value]) => [key, Array.isArray(value) ? value.join(", ") : String(value)] as const,
            ),
            ["Id", <code>{event.id}</code>],
          ]}
        />
      </section>
      <Touched {...{ event, projectId }} />
    </div>
  );
}

function Header({ event, projectId }: { event: Event; projectId: string }) {
  const { data: me } = useMe();
  const { data: types = [] } = useQuery(eventTypes.list, {});
  const { route } = useLocation();
  const [open, setOpen] = useState<"edit" | "delete" | "export" | undefined>();
  const close = () => setOpen(undefined);
  const mayEdit = may(me, "events.update");
  useShortcuts(mayEdit ? [{ keys: "e", does: "Change the event", run: () => setOpen("edit") }] : []);
  return (
    <header class="row">
      <h1>
        <ForeignText text={types.find(({ id }) => id === event.eventTypeId)?.name ?? "Event"} /> of{" "}
        {minuteText(event.start)}
      </h1>
      <span class="grow" />
      <OpenButton source={sourceOf(event, projectId)} />
      {may(me, "data.stream") && <Button text="Export…" onClick={() => setOpen("export")} />}
      {mayEdit && <Button text="Change" onClick={() => setOpen("edit")} />}
      {may(me, "events.delete") && <Button text="Delete" class="danger" onClick={() => setOpen("delete")} />}
      {open === "export" && <ExportDialog source={sourceOf(event, projectId)} onClose={close} />}
      {open === "edit" && <EventDialog {...{ projectId, event, onClose: close }} />}
      {open === "delete" && (
        <DeleteDialog
          operation={events.delete}
          input={{ id: event.id }}
          stale={[events.list]}
          title="Delete the event"
          deed="Delete"
          done="The event was deleted."
          onClose={close}
          onDone={() => route(pagePath(projectId, "events"))}
        >
          <p>The event is deleted. Episodes that were made from it stay, and so do the recordings.</p>
        </DeleteDialog>
      )}
    </header>
  );
}

function sourceOf({ device, start, end }: Event, projectId: string) {
  return sourceOfDevices({ projectId, devices: [device], span: { startNs: start, endNs: end } });
}

const MOST_TOUCHED = 100;

/** Shows the recordings of the device at the time of the event. */
function Touched({ event: { device, start, end }, projectId }: { event: Event; projectId: string }) {
  const query = { projectId, deviceId: device.id, start, end, limit: MOST_TOUCHED, sortBy: "start" } as const;
  const { data = [], failure, again } = useQuery(recordings.list, query);
  return (
    <section class="card stack">
      <h2>Recordings at that time</h2>
      <Pictures recordings={data} atNs={start} />
      {failure && <Failed {...{ failure, again }} />}
      {data.length === 0 && !failure && <p class="muted">None is known.</p>}
      <ul class="stack">
        {data.map(({ id, path, importStatus }) => (
          <li key={id} class="row">
            <StatusBadge status={importStatus} />
            <a href={pagePath(projectId, "recordings", id)}>
              <ForeignText text={path || id} />
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
