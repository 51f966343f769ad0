import { existsSync, realpathSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { shellWord } from "@downlink/terminal/shell-word";
import { packagedCommand } from "../service/packaged-service.ts";
import { DEFAULT_FILE } from "../settings/settings.ts";

/** Returns the program and its arguments that start this program again, by paths that stay when a package's version changes. */
export function ownProgram(): string[] {
  const packaged = packagedCommand();
  if (packaged !== undefined) return [packaged];
  return [stablePath(process.execPath), stablePath(realpathSync(process.argv[1]!))];
}

/**
 * Returns the command by which a person calls this program, with the settings of this call. It is short where the program is on the path,
 * and in a checkout where the person called it through npm; else it works from any directory.
 */
export function ownCommand(configFile: string | undefined): string {
  const program = isOnPath() ? ["agent"] : (npmScript() ?? ownProgram());
  const isDefault = configFile === undefined || resolve(configFile) === DEFAULT_FILE;
  return [...program, ...(isDefault ? [] : ["--config", resolve(configFile)])].map(shellWord).join(" ");
}

/** Replaces the program's name `agent` in a message by the command that works here. */
export function withOwnCommand(text: string, configFile: string | undefined): string {
  return text.replace(/(`(?:sudo -u '#\d+' )?)agent(?= )/g, (_, before: string) => before + ownCommand(configFile));
}

/** npm names the script that a person called; the script has the name of the program. */
function npmScript(): string[] | undefined {
  return process.env.npm_lifecycle_event === "agent" ? ["npm", "run", "agent", "--"] : undefined;
}

/** The ways in which messages name the service. */
const mentionsOfService = [
  /; a service: `systemctl stop downlink-agent`, and afterwards `systemctl start downlink-agent`/g,
  /, or (?:as a service: )?`systemctl start downlink-agent`/g,
  / \(`systemctl \w+ downlink-agent`\)/g,
  /: `systemctl restart downlink-agent`/g,
];

/** Replaces the service's name `downlink-agent` in a message by the installed unit, or leaves the service out where there is none. */
export function withService(text: string, unit: string | undefined): string {
  if (unit === undefined) return mentionsOfService.reduce((left, mention) => left.replace(mention, ""), text);
  const name = shellWord(unit.replace(/\.service$/, ""));
  return text.replace(/(?<=`systemctl \w+ )downlink-agent(?=`)/g, () => name);
}

function isOnPath(): boolean {
  const own = realpathSync(packagedCommand() ?? process.argv[1]!);
  const places = (process.env.PATH ?? "").split(delimiter).map((directory) => join(directory, "agent"));
  return places.some((place) => existsSync(place) && realpathSync(place) === own);
}

/** pnpm keeps each version in its own folder and links to the one in use: a path through the link stays valid. */
export function stablePath(path: string): string {
  const [, base, rest] = /^(.*)\/node_modules\/\.pnpm\/[^/]+\/node_modules\/(.*)$/.exec(path) ?? [];
  const linked = base === undefined ? path : `${base}/node_modules/${rest}`;
  return existsSync(linked) && realpathSync(linked) === realpathSync(path) ? linked : path;
}
