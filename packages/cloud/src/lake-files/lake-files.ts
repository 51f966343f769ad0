import { type api, type Input, type LakeFile, MAX_LAKE_FILE_HOURS } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import { invalid, refuse } from "../core/errors.ts";
import { selectDevice } from "../devices/find-device.ts";
import type { Handlers } from "../http/handlers.ts";
import { findSiteOfType } from "../projects/find-site.ts";
import { selectRecording } from "../recordings/find-recording.ts";
import { selectSession } from "../sessions/find-session.ts";

type Contract = typeof api.lakeFiles;
type ListQuery = Input<Contract["list"]>;

const HOUR_NS = 3_600_000_000_000n;

export const lakeFiles: Handlers<Contract> = { list: listLakeFiles };

/** No site has a lake before one registers, so a good query finds nothing yet. spec: Lake files */
async function listLakeFiles(ctx: Ctx, query: ListQuery): Promise<LakeFile[]> {
  requireBounds(query);
  await findSiteOfType(ctx, query.siteId, ["self-hosted"]);
  await selectDevice(ctx, query);
  await selectRecording(ctx, query);
  await selectSession(ctx, query);
  return [];
}

/** Limited by a device within at most 24 hours, or by a recording or session, which need no times. */
function requireBounds(query: ListQuery): void {
  const { start, end, recordingId, recordingKey, sessionId, sessionKey } = query;
  if (start !== undefined && end !== undefined && start > end) invalid("start", "must not be after end");
  if (recordingId || recordingKey || sessionId || sessionKey) return;
  if (!query.deviceId && !query.deviceName)
    refuse("InvalidRequest", "the query must name a device, a recording or a session, by id, name or key");
  if (start === undefined) invalid("start", "is required in a query by device");
  if (end === undefined) invalid("end", "is required in a query by device");
  if (end - start > BigInt(MAX_LAKE_FILE_HOURS) * HOUR_NS)
    invalid("end", `must be at most ${MAX_LAKE_FILE_HOURS} hours after start in a query by device`);
}
