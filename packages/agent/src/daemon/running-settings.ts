import { isDeepStrictEqual } from "node:util";
import { effectOf, type SettingName, type Settings, settingNames, type TakesEffect } from "../settings/settings.ts";

/**
 * The settings that a running agent works with. Only some of them change while it runs. For the others the agent starts again in its
 * process, because that is the way of every start, and no change can be left half done.
 */
export interface RunningSettings {
  /** Settings that take effect at once are read as they are at that moment; the others stay as they were. */
  readonly settings: Settings;
  /** Takes over the settings that take effect at once. */
  adopt(wanted: Settings): void;
}

export function runWith(settings: Settings): RunningSettings {
  let current = settings;
  const view = Object.defineProperties(
    {},
    Object.fromEntries(settingNames.map((name) => [name, { enumerable: true, get: () => current[name] }])),
  );
  return {
    settings: view as Settings,
    adopt(wanted) {
      current = merge(current, wanted, ["at once"]);
    },
  };
}

/** Returns the settings of an agent that starts again: all changes but those that need a restart. */
export function settingsToStartWith(running: Settings, wanted: Settings): Settings {
  return merge(running, wanted, ["at once", "within seconds"]);
}

/** Returns the settings that differ, by when they take effect. */
export function compareSettings(running: Settings, wanted: Settings): Readonly<Record<TakesEffect, SettingName[]>> {
  const changed = settingNames.filter((name) => !isDeepStrictEqual(running[name], wanted[name]));
  const those = (effect: TakesEffect) => changed.filter((name) => effectOf(name) === effect);
  return {
    "at once": those("at once"),
    "within seconds": those("within seconds"),
    "after a restart": those("after a restart"),
  };
}

function merge(running: Settings, wanted: Settings, effects: readonly TakesEffect[]): Settings {
  const pick = (name: SettingName) => (effects.includes(effectOf(name)) ? wanted : running)[name];
  return Object.fromEntries(settingNames.map((name) => [name, pick(name)])) as unknown as Settings;
}
