import type { Transport } from "@downlink/client";
import type { Clock } from "../system/clock.ts";
import type { ClockSkew } from "./clock-skew.ts";

/** `Date` tells whole seconds. */
const DATE_PRECISION_MS = 1000;

/**
 * The same transport, which notes what time each answer tells. What is not JSON is a portal's or a proxy's, and its time
 * nobody's whom the agent works with.
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
