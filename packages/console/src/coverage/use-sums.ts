import { type CoverageGrid, coverage, MAX_GRID_DEVICES } from "@downlink/protocol";
import { useMemo } from "preact/hooks";
import { type Query, useQuery } from "../api/use-query.ts";
import type { Span } from "../timeline/view.ts";
import { binsOf, type DeviceSums } from "./sum-up.ts";

interface Asked {
  readonly projectId: string;
  readonly ids: readonly string[];
  readonly span: Span;
}

/** Asks the service how much data of each device lies in a span: the picture may hide a gap that is shorter than a pixel. */
export function useSums({
  projectId,
  ids,
  span,
}: Asked): Query<CoverageGrid> & { of(id: string): DeviceSums | undefined } {
  const deviceIds = ids.slice(0, MAX_GRID_DEVICES);
  const query = useQuery(coverage.grid, { projectId, deviceIds, ...binsOf(span) }, { isEnabled: ids.length > 0 });
  const byId = useMemo(() => new Map(query.data?.devices.map((sums) => [sums.id, sums])), [query.data]);
  return { ...query, of: (id) => byId.get(id) };
}
