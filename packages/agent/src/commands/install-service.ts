import { writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { shellWord } from "@downlink/terminal/shell-word";
import { giveFolder, type LeftStep } from "../service/give-folder.ts";
import { packagedUnitFor, writeDropIn } from "../service/packaged-service.ts";
import { findUser, mayUser, runProgram } from "../service/run-program.ts";
import { makeUnit, openPlaces } from "../service/unit.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { DEFAULT_FILE, requireSetting, type Settings } from "../settings/settings.ts";
import { describeSystemError } from "../system/system-error.ts";
import { ownProgram } from "./own-command.ts";

export interface ServiceOptions {
  readonly user: string;
  readonly unitFile: string;
  readonly configFile?: string;
}

/** Makes the unit for these settings, as it would be installed. Throws {@link InvalidSettingError}. */
export function unitFor(settings: Settings, { user, configFile = DEFAULT_FILE }: ServiceOptions): string {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/i.test(user)) throw new InvalidSettingError(`${user} is not a user name`);
  return makeUnit({
    command: [...ownProgram(), "--config", resolve(configFile), "run"],
    user,
    group: settings.stateGroup,
    ...placesOf(settings),
  });
}

/**
 * Writes the unit, makes its user, and gives the user the rights that it needs, as far as the caller may. Returns what is left to
 * do. Each step may be repeated. Throws {@link InvalidSettingError} where the unit may not be written.
 */
export function installService(settings: Settings, options: ServiceOptions): LeftStep[] {
  const { user, configFile = DEFAULT_FILE } = options;
  const packaged = writeService(settings, options);
  const { stateDir, stateGroup: group } = settings;
  const root = requireSetting(settings, "storageRoot");
  const steps = [
    ...(/^\d+$/.test(group) ? [] : [["groupadd", "--system", "--force", group]]),
    ...(findUser(user) ? [] : [makeUser(user, group)]),
    ...giveSettings(resolve(configFile), { user, group, isPackaged: packaged !== undefined }),
    ["mkdir", "-p", stateDir],
    ["chown", "-R", `${user}:${group}`, stateDir],
    ["systemctl", "daemon-reload"],
  ];
  const isRoot = process.getuid?.() === 0;
  const left = steps.flatMap((command) => {
    const why = isRoot ? runProgram(command) : "only root may";
    return why === undefined ? [] : [{ command, why }];
  });
  return [...left, ...giveFolder(root, user), ...checkProgram(user)];
}

/** A package has its unit already, and only the places of this robot are added to it. Returns the name of that unit. */
function writeService(settings: Settings, options: ServiceOptions): string | undefined {
  const { unitFile, configFile = DEFAULT_FILE } = options;
  const packaged = packagedUnitFor(configFile);
  const unit = unitFor(settings, options);
  try {
    if (packaged === undefined) writeFileSync(unitFile, unit);
    else writeDropIn(packaged, `[Service]\n${openPlaces(placesOf(settings))}\n`);
  } catch (error) {
    const place = packaged ?? unitFile;
    throw new InvalidSettingError(
      `cannot write ${place}: ${describeSystemError(error)}. Do this as root, or give --print`,
    );
  }
  return packaged;
}

function placesOf(settings: Settings) {
  return { stateDir: settings.stateDir, storageRoot: requireSetting(settings, "storageRoot") };
}

/** With a package root owns the settings, which the agent only reads. */
function giveSettings(file: string, to: { user: string; group: string; isPackaged: boolean }): string[][] {
  if (!to.isPackaged) return [["chown", to.user, file]];
  return [
    ["chown", `root:${to.group}`, file],
    ["chmod", "0640", file],
  ];
}

function makeUser(user: string, group: string): string[] {
  return ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", "--gid", group, user];
}

/** The service may not be allowed to enter a program's directory in a user's home. */
function checkProgram(user: string): LeftStep[] {
  const ids = process.getuid?.() === 0 ? findUser(user) : undefined;
  if (ids === undefined) return [];
  const closed = ownProgram().find((path) => !mayUser(ids, path, "r"));
  if (closed === undefined) return [];
  const why = `${user} may not read ${closed}: install the agent where everybody may read it, and do this again from there`;
  return [{ command: undefined, why }];
}

export function renderInstallation(left: readonly LeftStep[], options: ServiceOptions): string {
  const { unitFile, configFile = DEFAULT_FILE } = options;
  const lines = left.map(({ command, why }) =>
    command === undefined ? `  # ${why}` : `  ${command.map(shellWord).join(" ")}  # ${why}`,
  );
  const todo = left.length === 0 ? "" : `Left to be done, as root:\n\n${lines.join("\n")}\n\n`;
  const packaged = packagedUnitFor(configFile);
  const name = basename(packaged ?? unitFile, ".service");
  const place = packaged === undefined ? `The unit is in ${resolve(unitFile)}.\n` : "";
  return `${place}${todo}Next:\n\n  systemctl enable --now ${shellWord(name)}\n`;
}
