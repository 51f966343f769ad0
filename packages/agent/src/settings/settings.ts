import { accessSync, constants, readFileSync } from "node:fs";
import { writeDurableFile } from "../durable/durable-file.ts";
import { describeSystemError } from "../system/system-error.ts";
import { diskAmountOf } from "./disk-amount.ts";
import { formatEnvFile, type OnMistake, parseEnvFile, throwMistake } from "./env-file.ts";
import { interfaceRulesOf } from "./interface-rules.ts";
import { InvalidSettingError } from "./invalid-setting-error.ts";
import {
  booleanOf,
  countOf,
  credentialsIn,
  deviceNameOf,
  durationMsOf,
  globsOf,
  groupOf,
  listenAddressOf,
  oneOf,
  pathOf,
  proxyOf,
  textOf,
  traceHeadersOf,
  uploadRateOf,
  urlOf,
} from "./value-parsers.ts";

/**
 * When a change of a setting in the file takes effect: at once, for what runs already; within seconds, for which the agent
 * starts again inside its process (parts under way are sent again); or only after a restart of the agent.
 */
export type TakesEffect = "at once" | "within seconds" | "after a restart";

interface Definition<T> {
  readonly takesEffect: TakesEffect;
  /** Name in the environment and in the env file, without the prefix. */
  readonly name: string;
  /** A variable that other programs use too: it has no prefix, and may be written in small letters. */
  readonly isSharedName?: true;
  readonly parse: (text: string) => T;
  /** The default as the file would have it; absent where the setting may be missing. */
  readonly fallback?: string;
  /** The default of a setting that the control plane may set. The value is absent here unless it is given on the device. */
  readonly cloudFallback?: string;
  readonly isSecret?: true;
  /** Returns the secret parts of a text that is not secret as a whole. */
  readonly secretsIn?: (text: string) => readonly string[];
}

const define = <const D extends Definition<unknown>>(definition: D): D => definition;

const atOnce = { takesEffect: "at once" } as const;
const withinSeconds = { takesEffect: "within seconds" } as const;
/** These settings say who the agent is and where its files are, and the service unit was made for them. */
const atStart = { takesEffect: "after a restart" } as const;

/** All settings. spec of names and defaults: edge agent, settings */
const definitions = {
  deviceToken: define({ ...atStart, name: "DEVICE_TOKEN", parse: textOf, isSecret: true }),
  deviceName: define({ ...atStart, name: "DEVICE_NAME", parse: deviceNameOf }),
  siteToken: define({ ...atStart, name: "SITE_TOKEN", parse: textOf, isSecret: true }),
  takesDeviceFromPath: define({ ...withinSeconds, name: "SITE_DEVICE_FROM_PATH", parse: booleanOf, fallback: "false" }),
  apiUrl: define({ ...atStart, name: "API_URL", parse: urlOf }),
  storageRoot: define({ ...atStart, name: "STORAGE_ROOT", parse: pathOf }),
  stateDir: define({ ...atStart, name: "STATE_DIR", parse: pathOf, fallback: "/var/lib/downlink-agent" }),
  stateGroup: define({ ...atStart, name: "STATE_GROUP", parse: groupOf, fallback: "downlink" }),
  watchInclude: define({ ...withinSeconds, name: "WATCH_INCLUDE", parse: globsOf, fallback: "**/*.{mcap,bag}" }),
  watchExclude: define({ ...withinSeconds, name: "WATCH_EXCLUDE", parse: globsOf, fallback: "" }),
  usesNotify: define({ ...withinSeconds, name: "WATCH_USE_NOTIFY", parse: booleanOf, fallback: "true" }),
  scanIntervalMs: define({ ...withinSeconds, name: "WATCH_SCAN_INTERVAL", parse: durationMsOf, fallback: "30s" }),
  settleTimeMs: define({ ...withinSeconds, name: "SETTLE_TIME", parse: durationMsOf, fallback: "2s" }),
  incompleteAfterMs: define({ ...withinSeconds, name: "INCOMPLETE_AFTER", parse: durationMsOf, fallback: "10min" }),
  autoImport: define({ ...atOnce, name: "AUTO_IMPORT", parse: globsOf, cloudFallback: "" }),
  uploadRate: define({ ...atOnce, name: "UPLOAD_RATE", parse: uploadRateOf, cloudFallback: "unlimited" }),
  uploadConcurrency: define({ ...atOnce, name: "UPLOAD_CONCURRENCY", parse: countOf, cloudFallback: "2" }),
  uploadInterfaces: define({ ...withinSeconds, name: "UPLOAD_INTERFACES", parse: interfaceRulesOf }),
  caFile: define({ ...withinSeconds, name: "CA_FILE", parse: pathOf }),
  httpsProxy: define({
    ...withinSeconds,
    name: "HTTPS_PROXY",
    isSharedName: true,
    parse: proxyOf,
    secretsIn: credentialsIn,
  }),
  httpProxy: define({
    ...withinSeconds,
    name: "HTTP_PROXY",
    isSharedName: true,
    parse: proxyOf,
    secretsIn: credentialsIn,
  }),
  noProxy: define({ ...withinSeconds, name: "NO_PROXY", isSharedName: true, parse: textOf }),
  otlpEndpoint: define({ ...withinSeconds, name: "OTEL_EXPORTER_OTLP_ENDPOINT", isSharedName: true, parse: urlOf }),
  otlpHeaders: define({
    ...withinSeconds,
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    isSharedName: true,
    parse: traceHeadersOf,
    isSecret: true,
  }),
  metricsAddress: define({ ...withinSeconds, name: "METRICS_ADDRESS", parse: listenAddressOf }),
  maxDisk: define({ ...atOnce, name: "MAX_DISK_BYTES", parse: diskAmountOf }),
  minFree: define({ ...atOnce, name: "MIN_FREE_BYTES", parse: diskAmountOf }),
  prunesUnimported: define({ ...atOnce, name: "PRUNE_UNIMPORTED", parse: booleanOf, fallback: "false" }),
  adoptsCards: define({ ...atOnce, name: "ADOPT_CARDS", parse: booleanOf, fallback: "false" }),
  logFormat: define({ ...atStart, name: "LOG_FORMAT", parse: oneOf("auto", "text", "json"), fallback: "auto" }),
  logLevel: define({
    ...atOnce,
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
/** The values of all settings; durations are in milliseconds. */
export type Settings = { readonly [K in keyof Definitions]: Value<Definitions[K]> };
export type SettingName = keyof Settings;

export const settingNames = Object.keys(definitions) as SettingName[];

const PREFIX = "DOWNLINK_";
export const DEFAULT_FILE = "/etc/downlink/agent.env";

export interface SettingSources {
  /** The flags of the command line, by setting. */
  readonly flags: Partial<Record<SettingName, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where it is absent, the default file is read, which need not exist. */
  readonly configFile?: string;
  /** Whether a file that was named may be missing: `enroll` makes it. */
  readonly isFileNew?: boolean;
  /** Whether a file that may not be read counts as empty. */
  readonly isFileOptional?: boolean;
  /** Commands that only show something report mistakes and go on without the value. Where it is absent, mistakes are thrown. */
  readonly onMistake?: OnMistake;
  /** The last settings of the control plane, by setting. */
  readonly cloud?: Partial<Record<SettingName, string>>;
}

export type SettingOrigin = "command line" | "environment" | "file" | "control plane" | "default" | "not set";

export interface ResolvedSetting {
  readonly setting: SettingName;
  /** Its name in the environment and in the file. */
  readonly key: string;
  readonly origin: SettingOrigin;
  /** The text at its origin. */
  readonly text: string | undefined;
  readonly value: unknown;
  readonly takesEffect: TakesEffect;
  readonly isSecret: boolean;
  readonly secrets: readonly string[];
}

/**
 * Loads the settings: a flag takes precedence over the environment, that over the env file, that over the default. Throws an {@link
 * InvalidSettingError} that names the place.
 */
export function loadSettings(sources: Omit<SettingSources, "cloud">): Settings {
  const isLeftOpen = ({ setting, origin }: ResolvedSetting) =>
    origin === "default" && (definitions[setting] as Definition<unknown>).cloudFallback !== undefined;
  const entries = resolveSettings(sources).map((resolved) => [
    resolved.setting,
    isLeftOpen(resolved) ? undefined : resolved.value,
  ]);
  return Object.fromEntries(entries) as Settings;
}

/** Returns every setting with the origin of its value; a value of the control plane takes precedence over the default. */
export function resolveSettings({
  configFile,
  isFileNew,
  isFileOptional,
  ...sources
}: SettingSources): ResolvedSetting[] {
  const path = configFile ?? DEFAULT_FILE;
  const { onMistake = throwMistake } = sources;
  const isSkipped = isFileOptional === true && !isReadable(path);
  const mustExist = configFile !== undefined && !isFileNew;
  const file = isSkipped ? new Map<string, string>() : readConfigFile(path, mustExist, onMistake);
  return settingNames.map((setting) => {
    const definition: Definition<unknown> = definitions[setting];
    const key = settingKey(setting);
    const given = (read: (name: string) => string | undefined) => firstOf(definition, read);
    const places: Place[] = [
      { origin: "command line", from: "the command line", text: sources.flags[setting] },
      // An empty text in the environment counts as none; in the file it is one.
      { origin: "environment", from: "the environment", text: given((name) => sources.environment[name] || undefined) },
      { origin: "file", from: path, text: given((name) => file.get(name)) },
      { origin: "control plane", from: "the control plane's settings", text: sources.cloud?.[setting] },
      { origin: "default", from: "the defaults", text: definition.fallback ?? definition.cloudFallback },
    ];
    const { origin, text, value } = firstSound({ ...definition, key, onMistake }, places);
    const { takesEffect } = definition;
    return { setting, key, origin, text, value, takesEffect, ...secrecyOf(definition, text) };
  });
}

interface Place {
  readonly origin: SettingOrigin;
  /** The origin as a message names it. */
  readonly from: string;
  readonly text: string | undefined;
}

/** A value of the control plane that this agent does not understand is only shown. */
function firstSound(
  { onMistake, ...at }: { key: string; parse: (text: string) => unknown; onMistake: OnMistake },
  places: readonly Place[],
): { origin: SettingOrigin; text: string | undefined; value: unknown } {
  for (const { origin, from, text } of places) {
    if (text === undefined) continue;
    try {
      return { origin, text, value: at.parse(text) };
    } catch (error) {
      if (!(error instanceof InvalidSettingError)) throw error;
      if (origin === "control plane") return { origin, text, value: undefined };
      onMistake(new InvalidSettingError(`${at.key} in ${from}: ${error.message}`));
    }
  }
  return { origin: "not set", text: undefined, value: undefined };
}

/** Writes the settings into the env file, which only its owner may read, and takes undefined ones out; all other lines stay. */
export function writeConfigFile(path: string, values: Partial<Record<SettingName, string | undefined>>): void {
  const merged = parseEnvFile(path, readText(path, false));
  for (const [setting, value] of Object.entries(values)) {
    const key = settingKey(setting as SettingName);
    if (value === undefined) merged.delete(key);
    else merged.set(key, value);
  }
  writeDurableFile(path, formatEnvFile(merged), 0o600);
}

function secrecyOf(definition: Definition<unknown>, text: string | undefined) {
  const isSecret = definition.isSecret === true;
  if (!text) return { isSecret, secrets: [] };
  return { isSecret, secrets: isSecret ? [text] : (definition.secretsIn?.(text) ?? []) };
}

export function effectOf(setting: SettingName): TakesEffect {
  return definitions[setting].takesEffect;
}

export function settingKey(setting: SettingName): string {
  return keysOf(definitions[setting])[0]!;
}

/** The first key is the one to be shown. */
function keysOf({ name, isSharedName }: Definition<unknown>): readonly string[] {
  return isSharedName ? [name, name.toLowerCase()] : [PREFIX + name];
}

/** As in other programs, small letters go before capitals. */
function firstOf(definition: Definition<unknown>, read: (key: string) => string | undefined): string | undefined {
  return keysOf(definition)
    .toReversed()
    .map(read)
    .find((text) => text !== undefined);
}

/** Returns the value of a setting, or throws an error that says where it can be given. */
export function requireSetting<K extends SettingName>(settings: Settings, setting: K): NonNullable<Settings[K]> {
  const value = settings[setting];
  if (value !== undefined && value !== null) return value as NonNullable<Settings[K]>;
  throw new InvalidSettingError(
    `${settingKey(setting)} is not set; run \`agent enroll\`, or set it in the env file, which \`agent config\` names`,
  );
}

/**
 * Leaves out what the environment holds just as the file does: systemd's `EnvironmentFile` hands the file over in the
 * environment, where it would hide every later change of the file.
 */
export function withoutHandedOver(sources: SettingSources): SettingSources {
  const file = readConfigFile(sources.configFile ?? DEFAULT_FILE, false);
  const own = Object.entries(sources.environment).filter(([key, text]) => !file.has(key) || file.get(key) !== text);
  return { ...sources, environment: Object.fromEntries(own) };
}

/** Reads the file by key. Throws {@link InvalidSettingError} where it cannot be read or holds an unknown key. */
function readConfigFile(path: string, mustExist: boolean, onMistake: OnMistake = throwMistake): Map<string, string> {
  const values = parseEnvFile(path, readText(path, mustExist), onMistake);
  const known = new Set(Object.values(definitions).flatMap(keysOf));
  for (const key of values.keys()) {
    if (key.startsWith(PREFIX) && !known.has(key))
      onMistake(new InvalidSettingError(`${path}: unknown setting ${key}`));
  }
  return values;
}

/** False only where this user may not read the file; a missing file is another matter. */
export function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "EACCES";
  }
}

function readText(path: string, mustExist: boolean): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !mustExist) return "";
    if (code === "ENOENT" || code === "EACCES" || code === "EISDIR")
      throw new InvalidSettingError(
        `cannot read ${path}: ${describeSystemError(error)}${code === "EACCES" ? ". It holds the token: do this as root or as the agent's user" : ""}`,
      );
    throw error;
  }
}
