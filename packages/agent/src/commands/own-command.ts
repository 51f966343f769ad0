import { existsSync, realpathSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { packagedCommand } from "../service/packaged-service.ts";
import { DEFAULT_FILE } from "../settings/settings.ts";
import { shellWord } from "../text/shell-word.ts";

/** The program and its arguments that start this program again, by paths that stay when a package's version changes. */
export function ownProgram(): string[] {
  const packaged = packagedCommand();
  if (packaged !== undefined) return [packaged];
  return [stablePath(process.execPath), stablePath(realpathSync(process.argv[1]!))];
}

/** The command by which a person calls this program from any directory, with the settings of this call. */
export function ownCommand(configFile: string | undefined): string {
  const program = isOnPath() ? ["agent"] : ownProgram();
  const isDefault = configFile === undefined || resolve(configFile) === DEFAULT_FILE;
  return [...program, ...(isDefault ? [] : ["--config", resolve(configFile)])].map(shellWord).join(" ");
}

/** Messages call the program `agent`; this replaces it by the command that works here. */
export function withOwnCommand(text: string, configFile: string | undefined): string {
  return text.replace(/(`(?:sudo -u '#\d+' )?)agent(?= )/g, (_, before: string) => before + ownCommand(configFile));
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
