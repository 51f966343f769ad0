import type { QueuedImport } from "@downlink/protocol";

/** Names the requester of an import, as far as known. A repair replaces data that was damaged in the store. */
export function requesterText(requester: QueuedImport["requestedBy"], isRepair = false): string {
  if (!requester) return isRepair ? "repair" : "requested";
  const { kind, name, id } = requester;
  if (kind === "autoImport") return "auto-import";
  if (kind === "device") return "on the device";
  if (kind === "site") return "at the site";
  return `by ${name ?? id}`;
}
