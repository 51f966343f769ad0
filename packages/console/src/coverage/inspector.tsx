import { importRequests, recordings } from "@downlink/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { StatusBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { Menu } from "../parts/menu.tsx";
import { toast } from "../parts/toast.tsx";
import { formatDuration, formatExact, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import { addressOf, type Inspected } from "./inspected.ts";
import { addUp } from "./sum-up.ts";
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
  const parts = addUp(sums.data?.devices ?? []);
  const { data: me } = useMe();
  return (
    <section class="inspector" aria-label="At the cursor">
      <header class="row">
        <strong>{devices.length === 1 ? first!.name : `${formatCount(devices.length)} devices`}</strong>
        <SpanText {...span} />
        <span class="grow" />
        {may(me, "data.upload") && (
          <ImportMenu {...props} wanted={parts.reduce((sum, { wanted }) => sum + wanted, 0)} />
        )}
        <a class="button small" href={addressOf(projectId, "recordings", inspected)}>
          Open
        </a>
        {may(me, "events.create") && (
          <a class="button small" href={addressOf(projectId, "events", inspected)}>
            Event
          </a>
        )}
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

/** Asks for all that is not here yet: a call for each device, because a filter names one. */
function ImportMenu({ projectId, inspected, wanted, onImported }: InspectorProps & { wanted: number }) {
  const request = useChange(importRequests.create, recordings.list, recordings.summarize);
  const [isRunning, setRunning] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const { devices, span, asks } = inspected;
  useEffect(() => {
    if (asks && wanted > 0) place.current?.querySelector("button")?.focus();
  }, [asks, wanted]);
  const run = async (priority: number) => {
    setRunning(true);
    let queued = 0;
    for (const { id } of devices) {
      const filter = { projectId, deviceId: id, start: span.startNs, end: span.endNs };
      const answer = await request.run({ filter: { ...filter, importStatus: ["none", "failed"] }, priority });
      if (!answer) break;
      queued += answer.queued;
    }
    setRunning(false);
    if (queued > 0) toast(`${formatCount(queued)} requested.`);
    onImported();
  };
  if (wanted === 0) return null;
  return (
    <span ref={place}>
      <Menu
        label={isRunning ? "Asking…" : `Import ${formatCount(wanted)}`}
        class="small primary"
        items={PRIORITIES.map(([name, priority]) => ({ text: `Import, ${name}`, onChoose: () => void run(priority) }))}
      />
      {request.failure && <Failed failure={request.failure} />}
    </span>
  );
}
