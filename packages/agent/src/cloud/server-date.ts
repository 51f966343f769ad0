import type { Transport } from "@downlink/client";
import type { Clock } from "../system/clock.ts";
import type { ClockSkew } from "./clock-skew.ts";

/** The header `Date` holds whole seconds. */
const DATE_PRECISION_MS = 1000;

/**
 * Returns a transport that notes the time of each answer. An answer that is not JSON comes from a portal or a proxy, whose time
 * does not count.
 */
export function watchServerDate(
  transport: Transport,
  { clock, skew }: { readonly clock: Pick<Clock, "uptimeMs">; readonly skew: ClockSkew },
): Transport {
  return async (request) => {
    const sentUptimeMs = clock.uptimeMs();
    const response = await transport(request);
    const serverMs = Date.parse(response.headers.get("date") ?? "");
    const isOurs = response.headers.get("content-type")?.includes("json") === true;
    if (isOurs && !Number.isNaN(serverMs)) skew.note({ serverMs, precisionMs: DATE_PRECISION_MS, sentUptimeMs });
    return response;
  };
}
