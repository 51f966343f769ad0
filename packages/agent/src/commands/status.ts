import type { Settings } from "../settings/settings.ts";
import { isForbidden, StateUnreadableError } from "../state/state-unreadable.ts";
import { askStatus } from "../status/socket.ts";
import type { StatusDocument } from "../status/status-schema.ts";

/** Reads the status from the running agent, or from its state where none runs. */
export async function readStatus(settings: Settings): Promise<StatusDocument> {
  const { stateDir, stateGroup } = settings;
  const status = await askStatus(stateDir).catch((error: unknown) => {
    throw isForbidden(error) ? new StateUnreadableError(stateDir, stateGroup) : error;
  });
  if (status) return status;
  const { readOfflineStatus } = await import("../status/offline-status.ts");
  return readOfflineStatus(settings);
}
