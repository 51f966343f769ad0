import { recordings } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { PictureAt } from "./picture-at.tsx";

/** So many recordings of a span may have no camera before one that has. */
const TRIED = 4;

interface DeviceProps {
  readonly projectId: string;
  readonly deviceId: string;
  readonly span: { readonly startNs: bigint; readonly endNs: bigint };
}

/** Shows what a device's first camera saw in the middle of a span, where a recording of it is here. */
export function PictureOfDevice({ projectId, deviceId, span: { startNs: start, endNs: end } }: DeviceProps) {
  const { data: me } = useMe();
  const query = { projectId, deviceId, start, end, sortBy: "start", limit: TRIED } as const;
  const isEnabled = may(me, "data.stream") && may(me, "recordings.list");
  const { data = [], isOld } = useQuery(recordings.list, { ...query, importStatus: ["complete"] }, { isEnabled });
  return <PictureAt recordings={isOld ? [] : data} atNs={(start + end) / 2n} />;
}
