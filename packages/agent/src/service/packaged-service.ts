import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { DEFAULT_FILE } from "../settings/settings.ts";

/** Returns the command by which the package's start script was called; undefined without a package. */
export function packagedCommand(): string | undefined {
  return process.env.DOWNLINK_AGENT_COMMAND || undefined;
}

/** Where Debian's package puts its units. The archive for other systems has none, and there `install-service` writes one. */
const UNITS = "/usr/lib/systemd/system";
const DROP_INS = "/etc/systemd/system";

/** The name of one of several agents, in the name of its file of settings. */
const INSTANCE = /^\/etc\/downlink\/agent-([a-z0-9][a-z0-9_.-]*)\.env$/i;

/**
 * Returns the unit of the package that runs an agent with this file of settings: `/etc/downlink/agent.env`, or
 * `/etc/downlink/agent-NAME.env` for one of several. Undefined where no package brought the unit, or for another file.
 */
export function packagedUnitFor(configFile: string): string | undefined {
  const isOurs = packagedCommand() === "/usr/bin/agent" && existsSync(join(UNITS, "downlink-agent.service"));
  if (!isOurs) return undefined;
  if (resolve(configFile) === DEFAULT_FILE) return "downlink-agent.service";
  const name = instanceOf(configFile);
  return name === undefined ? undefined : `downlink-agent@${name}.service`;
}

/** Returns the installed unit, of the package or by `install-service`, that runs an agent with this file of settings; undefined where there is none. */
export function installedUnitFor(configFile = DEFAULT_FILE): string | undefined {
  const packaged = packagedUnitFor(configFile);
  if (packaged !== undefined) return packaged;
  return existsSync(join(DROP_INS, "downlink-agent.service")) ? "downlink-agent.service" : undefined;
}

/** Returns the state directory of one of several agents; undefined for the file of the only one. */
export function stateDirFor(configFile: string | undefined): string | undefined {
  const name = configFile === undefined ? undefined : instanceOf(configFile);
  return name === undefined ? undefined : `/var/lib/downlink-agent-${name}`;
}

function instanceOf(configFile: string): string | undefined {
  return INSTANCE.exec(resolve(configFile))?.[1];
}

/** Opens the places of this agent to the package's unit, for which everything else is read-only. */
export function writeDropIn(unit: string, settings: string): void {
  const directory = join(DROP_INS, `${unit}.d`);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "places.conf"), settings);
}
