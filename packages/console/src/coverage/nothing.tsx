import { coverage } from "@downlink/protocol";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { formatExact, formatSecond, zoneName } from "../time/format-time.ts";
import { zone } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import type { UrlParams } from "../url/use-params.ts";
import type { coverageParams } from "./params.ts";
import type { LaneView } from "./use-coverage.ts";

type Params = UrlParams<typeof coverageParams>;

/** Says that there is no device at all, or that none matches the typed text. */
export function NoDevices({ params: { values, set }, projectId }: { params: Params; projectId: string }) {
  if (values.q !== "")
    return (
      <Empty title={`No device matches “${values.q}”.`}>
        <Button text="✕ show all devices" class="small" onClick={() => set({ q: "" })} />
      </Empty>
    );
  return (
    <Empty title="There is no device yet.">
      <p>
        <a href={pagePath(projectId, "devices")}>Add a device</a>: its agent reports its recordings. Files without a
        device are in <a href={pagePath(projectId, "recordings")}>the recordings</a>.
      </p>
    </Empty>
  );
}

interface SightProps {
  readonly projectId: string;
  readonly lanes: LaneView;
  readonly set: Params["set"];
}

/** Leads to the nearest data where the range in sight has none. */
export function NothingInSight({ projectId, lanes, set }: SightProps) {
  const { startNs, endNs } = lanes.settled;
  const { data, isOld } = useQuery(coverage.span, {
    projectId,
    includeEdgeRecordings: true,
    start: startNs,
    end: endNs,
  });
  if (!data || isOld) return null;
  if (data.all === undefined)
    return (
      <p class="note" role="status">
        No device has any recording yet.
      </p>
    );
  const near = [
    ["Latest before", data.previous],
    ["First after", data.next],
  ] as const;
  if (near.every(([, atNs]) => atNs === undefined)) return null;
  const half = (endNs - startNs) / 2n;
  return (
    <p class="note row" role="status">
      Nothing in this range.
      {near.map(
        ([name, atNs]) =>
          atNs !== undefined && (
            <Button
              key={name}
              text={`${name}: ${formatSecond(atNs, zoneName(zone.value))}`}
              class="small primary"
              onClick={() => set({ from: formatExact(atNs - half), to: formatExact(atNs + half) }, { isStep: true })}
            />
          ),
      )}
    </p>
  );
}
