import { realpathSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { makeUnit } from "../service/unit.ts";
import { InvalidSetting } from "../settings/invalid-setting.ts";
import { DEFAULT_FILE, requireSetting, type Settings } from "../settings/settings.ts";

export interface ServiceOptions {
  readonly user: string;
  readonly unitFile: string;
  readonly configFile?: string;
}

/** The unit for these settings, as it would be installed. Throws {@link InvalidSetting}. */
export function unitFor(settings: Settings, { user, configFile = DEFAULT_FILE }: ServiceOptions): string {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/i.test(user)) throw new InvalidSetting(`${user} is no name of a user`);
  const program = realpathSync(process.argv[1]!);
  return makeUnit({
    command: [process.execPath, program, "--config", resolve(configFile), "run"],
    user,
    stateDir: settings.stateDir,
    storageRoot: requireSetting(settings, "storageRoot"),
  });
}

/** Writes the unit and answers the commands that are left to be run. Throws {@link InvalidSetting} where it may not be written. */
export function installService(settings: Settings, options: ServiceOptions): string[] {
  const { user, unitFile, configFile = DEFAULT_FILE } = options;
  const unit = unitFor(settings, options);
  try {
    writeFileSync(unitFile, unit);
  } catch (error) {
    throw new InvalidSetting(`cannot write ${unitFile}: ${(error as Error).message}; run it as root, or give --print`);
  }
  return [
    `id -u ${user} >/dev/null 2>&1 || useradd --system --no-create-home --shell /usr/sbin/nologin ${user}`,
    `chown ${user} ${shellWord(configFile)}`,
    `mkdir -p ${shellWord(settings.stateDir)} && chown -R ${user} ${shellWord(settings.stateDir)}`,
    "systemctl daemon-reload && systemctl enable --now downlink-agent",
  ];
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
