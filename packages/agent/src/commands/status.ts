import type { Settings } from "../settings/settings.ts";
import { askStatus } from "../status/socket.ts";
import type { StatusDocument } from "../status/status-schema.ts";

/** From the running agent, or what its state last knew. */
export async function readStatus(settings: Settings): Promise<StatusDocument> {
  const status = await askStatus(settings.stateDir);
  if (status) return status;
  const { readOfflineStatus } = await import("../status/offline-status.ts");
  return readOfflineStatus(settings);
}
