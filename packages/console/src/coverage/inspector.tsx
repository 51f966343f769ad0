import { type Device, importRequests, MAX_SELECTED_DEVICES, recordings } from "@downlink/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { StatusBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { nameDeed, useLargeDeed } from "../parts/large-deed.tsx";
import { Menu } from "../parts/menu.tsx";
import { toast } from "../parts/toast.tsx";
import { formatDuration, formatExact, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import { addressOf, type Inspected } from "./inspected.ts";
import { addUp, type DeviceSums, packDevices, wantedOf } from "./sum-up.ts";
import { useSums } from "./use-sums.ts";

interface InspectorProps {
  readonly projectId: string;
  readonly inspected: Inspected;
  readonly onClose: () => void;
  readonly onImported: () => void;
}

/** Shows the data in a span of one device or several, and what can be done with it. */
export function Inspector(props: InspectorProps) {
  const { projectId, inspected, onClose } = props;
  const { devices, span } = inspected;
  const [first] = devices;
  const sums = useSums({ projectId, ids: devices.map(({ id }) => id), span });
  const parts = addUp(sums.data ?? []);
  const { data: me } = useMe();
  return (
    <section class="inspector" aria-label="At the cursor">
      <header class="row">
        <strong>{devices.length === 1 ? first!.name : `${formatCount(devices.length)} devices`}</strong>
        <SpanText {...span} />
        <span class="grow" />
        {may(me, "data.upload") && sums.data && !sums.isOld && <ImportMenu {...props} sums={sums.data} />}
        <ToPage text="Open" href={addressOf(projectId, "recordings", inspected)} />
        {may(me, "events.create") && <ToPage text="Event" href={addressOf(projectId, "events", inspected)} />}
        <Button text="✕" class="small plain" aria-label="Close" onClick={onClose} />
      </header>
      {sums.failure && <Failed failure={sums.failure} again={sums.again} />}
      {sums.data && !sums.isOld && (
        <p>
          {parts.length === 0 && "No recordings."}
          {parts
            .map(({ text, recordings: count, bytes }) => `${formatCount(count)} ${text}, ${formatBytes(bytes)}`)
            .join(" · ")}
        </p>
      )}
      {devices.length === 1 && parts.length > 0 && <Some {...{ projectId, inspected }} />}
    </section>
  );
}

function ToPage({ text, href }: { text: string; href: string | undefined }) {
  if (href === undefined)
    return (
      <Button {...{ text }} class="small" disabled title={`Select at most ${MAX_SELECTED_DEVICES} devices for this`} />
    );
  return (
    <a class="button small" href={href}>
      {text}
    </a>
  );
}

function SpanText({ startNs, endNs }: { startNs: bigint; endNs: bigint }) {
  const name = zoneName(zone.value);
  const [start, end] = [formatSecond(startNs, name), formatSecond(endNs, name)];
  const isSameDay = start.slice(0, 10) === end.slice(0, 10);
  return (
    <span title={`${formatExact(startNs)} – ${formatExact(endNs)}`}>
      {start} – {isSameDay ? end.slice(11) : end} {name} <span class="muted">({formatDuration(endNs - startNs)})</span>
    </span>
  );
}

const SHOWN = 5;

/** Shows the first recordings of the span, by name. */
function Some({ projectId, inspected: { devices, span } }: Pick<InspectorProps, "projectId" | "inspected">) {
  const { data } = useQuery(recordings.list, {
    projectId,
    deviceId: devices[0]!.id,
    start: span.startNs,
    end: span.endNs,
    sortBy: "start",
    limit: SHOWN,
  });
  return (
    <ul class="inspector-files">
      {data?.map(({ id, path, importStatus, size, start }) => (
        <li key={id} class="row">
          <StatusBadge status={importStatus} />
          <a class="cut" href={pagePath(projectId, "recordings", id)}>
            {path}
          </a>
          <span class="muted">
            {formatSecond(start, zoneName(zone.value))} · {formatBytes(size)}
          </span>
        </li>
      ))}
    </ul>
  );
}

const PRIORITIES = [
  ["normal priority", 0],
  ["first", 100],
  ["last", -100],
] as const;

/** Asks for all that is not here yet. */
function ImportMenu({ projectId, inspected, sums, onImported }: InspectorProps & { sums: readonly DeviceSums[] }) {
  const request = useChange(importRequests.create, recordings.list, recordings.summarize);
  const [isRunning, setRunning] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const { span, asks } = inspected;
  const wanted = wantedOf(sums);
  const silent = silentAmong(inspected.devices, sums);
  const deed = useLargeDeed("Import", wanted, <Follows silent={silent} />);
  useEffect(() => {
    if (asks && wanted.count > 0) place.current?.querySelector("button")?.focus();
  }, [asks, wanted.count]);
  const run = async (priority: number) => {
    setRunning(true);
    let queued = 0;
    for (const deviceIds of packDevices(sums)) {
      const filter = { projectId, deviceIds, start: span.startNs, end: span.endNs };
      const answer = await request.run({ filter: { ...filter, importStatus: ["none", "failed"] }, priority });
      if (!answer) break;
      queued += answer.queued;
    }
    setRunning(false);
    const waits = silent.length === 0 ? "" : ` ${describeSilent(silent)}`;
    if (queued > 0)
      toast(`${formatCount(queued)} requested.${waits}`, {
        text: "See the queue",
        href: pagePath(projectId, "imports"),
      });
    onImported();
  };
  if (wanted.count === 0) return null;
  return (
    <span ref={place}>
      <Menu
        label={isRunning ? "Asking…" : nameDeed("Import", wanted)}
        class="small primary"
        items={PRIORITIES.map(([name, priority]) => ({
          text: `Import, ${name}`,
          onChoose: () => deed.begin(() => void run(priority)),
        }))}
      />
      {deed.question}
      {request.failure && <Failed failure={request.failure} />}
    </span>
  );
}

/** Returns those of the devices that have recordings to send, and whose agent does not answer. */
function silentAmong(devices: readonly Device[], sums: readonly DeviceSums[]): readonly Device[] {
  const waiting = new Set(sums.filter((each) => wantedOf([each]).count > 0).map(({ id }) => id));
  return devices.filter(({ id, agent }) => waiting.has(id) && agent && !agent.online);
}

const NAMED = 3;

function describeSilent(silent: readonly Device[]): string {
  const names = silent.slice(0, NAMED).map(({ name }) => name);
  const more =
    silent.length > NAMED ? `${names.join(", ")} and ${formatCount(silent.length - NAMED)} more` : names.join(", ");
  return silent.length === 1
    ? `${more} is silent: it sends once it is back.`
    : `${more} are silent: they send once they are back.`;
}

function Follows({ silent }: { silent: readonly Device[] }) {
  return (
    <>
      <p>The devices send these recordings over their own links, each in its turn.</p>
      {silent.length > 0 && <p>{describeSilent(silent)}</p>}
    </>
  );
}
