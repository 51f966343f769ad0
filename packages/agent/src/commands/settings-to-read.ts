import { existsSync } from "node:fs";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { DEFAULT_FILE, isReadable, loadSettings, type SettingSources, type Settings } from "../settings/settings.ts";
import { readAgentSettings } from "../state/agent-settings.ts";
import { openDatabaseToRead } from "../state/database.ts";

/**
 * Loads settings for commands that change nothing. The env file holds the token, so not everybody may read it: for other users the
 * state says with which settings the agent was started last. Throws {@link InvalidSettingError} and `StateUnreadableError`.
 */
export function settingsToRead(sources: SettingSources): Settings {
  const { configFile = DEFAULT_FILE } = sources;
  if (isReadable(configFile)) return loadSettings(sources);
  const settings = loadSettings({ ...sources, isFileOptional: true });
  const { stateDir } = settings;
  const isNamed = Boolean(sources.flags.stateDir || sources.environment.DOWNLINK_STATE_DIR);
  if (!isNamed && !existsSync(stateDir))
    throw new InvalidSettingError(
      `${configFile} may not be read by this user, and ${stateDir} is not there: say where the agent's state is with --state-dir DIR`,
    );
  using database = openDatabaseToRead(settings);
  const noted = database ? readAgentSettings(database) : {};
  const given = Object.entries(sources.flags).filter(([, text]) => text !== undefined);
  return {
    ...settings,
    ...noted,
    ...Object.fromEntries(given.map(([name]) => [name, settings[name as keyof Settings]])),
  };
}
