import { readFileSync } from "node:fs";
import { writeDurableFile } from "../durable-file.ts";
import { formatEnvFile, parseEnvFile } from "./env-file.ts";
import { InvalidSetting } from "./invalid-setting.ts";
import { booleanOf, countOf, durationMsOf, globsOf, oneOf, pathOf, textOf, urlOf } from "./value-parsers.ts";

interface Definition<T> {
  /** Name in the environment and in the env file, without the prefix. */
  readonly name: string;
  readonly parse: (text: string) => T;
  /** As it would stand in the file; absent: the setting may be missing. */
  readonly fallback?: string;
}

const define = <const D extends Definition<unknown>>(definition: D): D => definition;

/** Every setting there is. spec of names and defaults: edge agent, settings */
const definitions = {
  deviceToken: define({ name: "DEVICE_TOKEN", parse: textOf }),
  apiUrl: define({ name: "API_URL", parse: urlOf }),
  storageRoot: define({ name: "STORAGE_ROOT", parse: pathOf }),
  stateDir: define({ name: "STATE_DIR", parse: pathOf, fallback: "/var/lib/downlink-agent" }),
  watchInclude: define({ name: "WATCH_INCLUDE", parse: globsOf, fallback: "**/*.{mcap,bag}" }),
  watchExclude: define({ name: "WATCH_EXCLUDE", parse: globsOf, fallback: "**/*.active" }),
  usesNotify: define({ name: "WATCH_USE_NOTIFY", parse: booleanOf, fallback: "true" }),
  scanIntervalMs: define({ name: "WATCH_SCAN_INTERVAL", parse: durationMsOf, fallback: "30s" }),
  settleTimeMs: define({ name: "SETTLE_TIME", parse: durationMsOf, fallback: "2s" }),
  incompleteAfterMs: define({ name: "INCOMPLETE_AFTER", parse: durationMsOf, fallback: "10min" }),
  uploadConcurrency: define({ name: "UPLOAD_CONCURRENCY", parse: countOf, fallback: "2" }),
  logFormat: define({ name: "LOG_FORMAT", parse: oneOf("auto", "text", "json"), fallback: "auto" }),
  logLevel: define({
    name: "LOG_LEVEL",
    parse: oneOf("trace", "debug", "info", "warn", "error"),
    fallback: "info",
  }),
};

type Definitions = typeof definitions;
type Value<D> = D extends { parse: (text: string) => infer T; fallback: string }
  ? T
  : D extends { parse: (text: string) => infer T }
    ? T | undefined
    : never;
/** Durations in milliseconds. */
export type Settings = { readonly [K in keyof Definitions]: Value<Definitions[K]> };
export type SettingName = keyof Settings;

const PREFIX = "DOWNLINK_";
export const DEFAULT_FILE = "/etc/downlink/agent.env";

export interface SettingSources {
  /** As given on the command line, by setting. */
  readonly flags: Partial<Record<SettingName, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absent: the default file, which need not exist. */
  readonly configFile?: string;
  /** Whether a file that was named may be missing: `enroll` makes it. */
  readonly isFileNew?: boolean;
}

/** Flag before environment before env file before default. Throws {@link InvalidSetting} and names the place. */
export function loadSettings({ flags, environment, configFile, isFileNew = false }: SettingSources): Settings {
  const file = readConfigFile(configFile ?? DEFAULT_FILE, configFile !== undefined && !isFileNew);
  const settings = Object.entries(definitions).map(([setting, definition]) => {
    const { name, parse, fallback } = definition as Definition<unknown>;
    const key = PREFIX + name;
    const given = [
      { from: "the command line", text: flags[setting as SettingName] },
      { from: "the environment", text: environment[key] || undefined },
      { from: configFile ?? DEFAULT_FILE, text: file.get(key) },
      { from: "the defaults", text: fallback },
    ].find(({ text }) => text !== undefined);
    return [
      setting,
      given?.text === undefined ? undefined : parseSetting({ key, parse, from: given.from }, given.text),
    ];
  });
  return Object.fromEntries(settings) as Settings;
}

/** Writes the settings into the env file, readable by its owner only; what else stands in it stays. */
export function writeConfigFile(path: string, values: Partial<Record<SettingName, string>>): void {
  const merged = parseEnvFile(path, readText(path, false));
  for (const [setting, value] of Object.entries(values)) merged.set(settingKey(setting as SettingName), value);
  writeDurableFile(path, formatEnvFile(merged), 0o600);
}

function settingKey(setting: SettingName): string {
  return PREFIX + definitions[setting].name;
}

/** The setting's value, or a complaint that says where it could be given. */
export function requireSetting<K extends SettingName>(settings: Settings, setting: K): NonNullable<Settings[K]> {
  const value = settings[setting];
  if (value !== undefined && value !== null) return value as NonNullable<Settings[K]>;
  throw new InvalidSetting(`${settingKey(setting)} is not set; run \`agent enroll\`, or set it in ${DEFAULT_FILE}`);
}

function parseSetting(at: { key: string; parse: (text: string) => unknown; from: string }, text: string): unknown {
  try {
    return at.parse(text);
  } catch (error) {
    if (error instanceof InvalidSetting) throw new InvalidSetting(`${at.key} in ${at.from}: ${error.message}`);
    throw error;
  }
}

function readConfigFile(path: string, mustExist: boolean): Map<string, string> {
  const values = parseEnvFile(path, readText(path, mustExist));
  const known = new Set(Object.values(definitions).map(({ name }) => PREFIX + name));
  for (const key of values.keys()) {
    if (key.startsWith(PREFIX) && !known.has(key)) throw new InvalidSetting(`${path}: unknown setting ${key}`);
  }
  return values;
}

function readText(path: string, mustExist: boolean): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !mustExist) return "";
    if (code === "ENOENT" || code === "EACCES" || code === "EISDIR")
      throw new InvalidSetting(`cannot read ${path}: ${code}`);
    throw error;
  }
}
