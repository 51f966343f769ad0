import { api, type CallInput, type Output } from "@downlink/protocol";
import { UsageError } from "../failures/failures.ts";
import { type Flags, readFilters } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";

const { span } = api.coverage;
const filters = { project: "projectId", device: "deviceName", start: "start", end: "end" } as const;

/** The devices and the times of which the coverage is shown. */
export interface Selection extends Pick<CallInput<typeof span>, "projectId" | "deviceName"> {
  /** From when to when, both inclusive. Undefined where there is no data. */
  readonly window?: { readonly start: bigint; readonly end: bigint };
}

/**
 * Reads the flags. A bound that is not given is that of the data, without a few recordings of robots whose clock was wrong. Throws
 * {@link UsageError}.
 */
export async function findSelection({ client }: Service, flags: Flags): Promise<Selection> {
  const { start, end, ...where } = readFilters(span, flags, filters);
  if (start !== undefined && end !== undefined) {
    if (start > end) throw new UsageError("--end lies before --start.");
    return { ...where, window: { start, end } };
  }
  const data = await client.call(span, { ...where, includeEdgeRecordings: true });
  for (const { start: first, end: last } of believable(data)) {
    const window = { start: start ?? first, end: end ?? last };
    if (window.start <= window.end) return { ...where, window };
  }
  return where;
}

const DAY_MS = 86_400_000;

/** Returns spans of the data, the most believable first: the newest recording counts, unless it is of the future. */
function believable({ usual, all }: Output<typeof span>) {
  if (!usual || !all) return all ? [all] : [];
  const isFuture = all.end > BigInt(Date.now() + DAY_MS) * 1_000_000n;
  return [{ start: usual.start, end: isFuture ? usual.end : all.end }, all];
}
