import { coverage, MAX_GRID_DEVICES } from "@downlink/protocol";
import { useMemo } from "preact/hooks";
import { client } from "../api/client.ts";
import { queryKey } from "../api/query-key.ts";
import { type Query, useFetched } from "../api/use-query.ts";
import type { Span } from "../timeline/view.ts";
import { binsOf, type DeviceSums } from "./sum-up.ts";

interface Asked {
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly span: Span;
}

/**
 * Asks the service how much data of each device lies in a span: the picture may hide a gap that is shorter than a pixel. A call names some
 * devices, so that more of them take several.
 */
export function useSums({
  projectId,
  ids,
  span,
}: Asked): Query<readonly DeviceSums[]> & { of(id: string): DeviceSums | undefined } {
  const input = { projectId, deviceIds: [...ids], ...binsOf(span) };
  const fetchAll = async ({ signal }: { signal: AbortSignal }) => {
    const all: DeviceSums[] = [];
    for (let at = 0; at < ids.length; at += MAX_GRID_DEVICES) {
      const some = { ...input, deviceIds: ids.slice(at, at + MAX_GRID_DEVICES) };
      all.push(...(await client.call(coverage.grid, some, { signal })).devices);
    }
    return all;
  };
  const [path, text] = queryKey(coverage.grid.path, input);
  const query = useFetched([path, `sums of ${text}`] as const, fetchAll, { isEnabled: ids.length > 0 });
  const byId = useMemo(() => new Map(query.data?.map((sums) => [sums.id, sums])), [query.data]);
  return { ...query, of: (id) => byId.get(id) };
}
