import { type Recording, recordings } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { timeText } from "../time/zone.ts";
import { PictureAt } from "./picture-at.tsx";

/** So many recordings of a span are looked at, and so many of these may have no camera before one that has. */
const FOUND = 20;
const TRIED = 4;

interface DeviceProps {
  readonly projectId: string;
  readonly deviceId: string;
  readonly span: { readonly startNs: bigint; readonly endNs: bigint };
}

/** Shows what a device's first camera saw in the middle of a span, where a recording of it is here. */
export function PictureOfDevice({ projectId, deviceId, span: { startNs: start, endNs: end } }: DeviceProps) {
  const { data: me } = useMe();
  const query = { projectId, deviceId, start, end, sortBy: "start", limit: FOUND } as const;
  const isEnabled = may(me, "data.stream") && may(me, "recordings.list");
  const { data = [], isOld } = useQuery(recordings.list, { ...query, importStatus: ["complete"] }, { isEnabled });
  const atNs = (start + end) / 2n;
  const near = data.toSorted((one, other) => distance(one, atNs) - distance(other, atNs)).slice(0, TRIED);
  return <PictureAt recordings={isOld ? [] : near} atNs={atNs} captionOf={timeText} />;
}

function distance({ start, end }: Recording, atNs: bigint): number {
  return Math.max(0, Number(start - atNs), Number(atNs - end));
}
