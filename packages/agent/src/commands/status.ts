import type { Settings } from "../settings/settings.ts";
import { isForbidden, StateUnreadableError } from "../state/state-unreadable.ts";
import { askStatus } from "../status/socket.ts";
import type { StatusDocument } from "../status/status-schema.ts";

/** From the running agent, or what its state last knew. */
export async function readStatus(settings: Settings): Promise<StatusDocument> {
  const { stateDir, stateGroup } = settings;
  const status = await askStatus(stateDir).catch((error: unknown) => {
    throw isForbidden(error) ? new StateUnreadableError(stateDir, stateGroup) : error;
  });
  if (status) return status;
  const { readOfflineStatus } = await import("../status/offline-status.ts");
  return readOfflineStatus(settings);
}
