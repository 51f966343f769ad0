import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";

/** Tells one machine from another, and is the same after each start. It is a hash, because the system's own id is confidential. */
export function readMachineId(): string {
  const source = readSystemId() ?? `${hostname()} ${lowestMacAddress()}`;
  return createHash("sha256").update(`downlink agent ${source}`).digest("hex").slice(0, 32);
}

function readSystemId(): string | undefined {
  for (const path of ["/etc/machine-id", "/var/lib/dbus/machine-id"]) {
    try {
      const id = readFileSync(path, "utf8").trim();
      if (id !== "" && id !== "uninitialized") return id;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return undefined;
}

function lowestMacAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const macs = addresses.filter(({ internal, mac }) => !internal && mac !== "00:00:00:00:00:00").map(({ mac }) => mac);
  return macs.sort()[0] ?? "";
}
