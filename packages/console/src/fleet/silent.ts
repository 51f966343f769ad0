import type { Device } from "@downlink/protocol";
import { formatCount } from "../parts/bytes.ts";

const NAMED = 3;

/** Returns those of the devices whose agent does not answer. One without an agent never sent anything. */
export function silentAmong(devices: readonly Device[], ids: ReadonlySet<string>): readonly Device[] {
  return devices.filter(({ id, agent }) => ids.has(id) && agent && !agent.online);
}

/** Says what follows for imports from devices that are silent; empty where none is. */
export function describeSilent(silent: readonly Pick<Device, "name">[]): string {
  if (silent.length === 0) return "";
  const names = silent.slice(0, NAMED).map(({ name }) => name);
  const rest = silent.length > NAMED ? ` and ${formatCount(silent.length - NAMED)} more` : "";
  const who = names.join(", ") + rest;
  return silent.length === 1
    ? `${who} is silent: it sends once it is back.`
    : `${who} are silent: they send once they are back.`;
}
