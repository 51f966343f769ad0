import type { QueuedImport } from "@downlink/protocol";

/** Who asked for an import, as far as that is known. */
export function requesterText(requester: QueuedImport["requestedBy"]): string {
  if (!requester) return "requested";
  const { kind, name, id } = requester;
  if (kind === "autoImport") return "auto-import";
  if (kind === "device") return "on the device";
  if (kind === "site") return "at the site";
  return `by ${name ?? id}`;
}
