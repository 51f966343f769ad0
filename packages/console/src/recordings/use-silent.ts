import { type Device, devices, type ImportStatus, type RecordingFilter, recordings } from "@downlink/protocol";
import { mayCall, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { silentAmong } from "../fleet/silent.ts";

/** The most that one answer holds. */
const MOST = 2000;
const WANTED: readonly ImportStatus[] = ["none", "failed"];

/**
 * Returns the devices that have recordings to send and do not answer: among those with these ids, or among all that have a recording of a
 * filter.
 */
export function useSilent(projectId: string, of: ReadonlySet<string> | RecordingFilter): readonly Device[] {
  const { data: me } = useMe();
  const filter = of instanceof Set ? undefined : (of as RecordingFilter);
  const importStatus = WANTED.filter((status) => filter?.importStatus?.includes(status) ?? true);
  const isAsked = mayCall(me, devices.list);
  const { data: all = [] } = useQuery(devices.list, { projectId, limit: MOST }, { isEnabled: isAsked });
  const isCounted = isAsked && filter !== undefined && importStatus.length > 0;
  const { data: summary } = useQuery(recordings.summarize, { ...filter, importStatus }, { isEnabled: isCounted });
  if (!filter) return silentAmong(all, of as ReadonlySet<string>);
  return isCounted ? silentAmong(all, new Set(summary?.byDevice.flatMap(({ device }) => device?.id ?? []))) : [];
}
