import { importRequests, recordings } from "@downlink/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { ImportFollows } from "../fleet/import-follows.tsx";
import { importItems } from "../fleet/import-items.ts";
import { describeSilent, silentAmong } from "../fleet/silent.ts";
import { formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { nameDeed, useLargeDeed } from "../parts/large-deed.tsx";
import { Menu } from "../parts/menu.tsx";
import { toast } from "../parts/toast.tsx";
import { pagePath } from "../url/project.ts";
import type { Inspected } from "./inspected.ts";
import type { Shown } from "./shown.ts";
import { type DeviceSums, packDevices, wantedOf, wantedStatuses } from "./sum-up.ts";

interface ImportProps {
  readonly projectId: string;
  readonly inspected: Inspected;
  readonly sums: readonly DeviceSums[];
  readonly shown: Shown;
  readonly onImported: () => void;
}

/** Asks for all of the selection that is shown and is not here yet. */
export function ImportSelection({ projectId, inspected, sums, shown, onImported }: ImportProps) {
  const request = useChange(importRequests.create, recordings.list, recordings.summarize);
  const [isRunning, setRunning] = useState(false);
  const place = useRef<HTMLSpanElement>(null);
  const { span, asks } = inspected;
  const wanted = wantedOf(sums, shown);
  const silent = silentAmong(inspected.devices, idsWaiting(sums, shown));
  const deed = useLargeDeed("Import", wanted, <ImportFollows silent={silent} />);
  useEffect(() => {
    if (asks && wanted.count > 0) place.current?.querySelector("button")?.focus();
  }, [asks, wanted.count]);
  const run = async (priority: number) => {
    setRunning(true);
    let queued = 0;
    for (const deviceIds of packDevices(sums, shown)) {
      const filter = { projectId, deviceIds, start: span.startNs, end: span.endNs };
      const answer = await request.run({ filter: { ...filter, importStatus: wantedStatuses(shown) }, priority });
      if (!answer) break;
      queued += answer.queued;
    }
    setRunning(false);
    if (queued > 0)
      toast(`${formatCount(queued)} requested. ${describeSilent(silent)}`.trim(), {
        text: "See the queue",
        href: pagePath(projectId, "imports"),
      });
    onImported();
  };
  if (wanted.count === 0) return null;
  return (
    <span class="import-selection" ref={place}>
      <Menu
        label={isRunning ? "Asking…" : nameDeed("Import", wanted)}
        class="primary"
        items={importItems((priority) => deed.begin(() => void run(priority)))}
      />
      {deed.question}
      {request.failure && <Failed failure={request.failure} />}
    </span>
  );
}

/** Returns those of the devices that have recordings to send. */
function idsWaiting(sums: readonly DeviceSums[], shown: Shown): ReadonlySet<string> {
  return new Set(sums.filter((each) => wantedOf([each], shown).count > 0).map(({ id }) => id));
}
