import { isAbsolute } from "node:path";
import { deviceNamePattern, MAX_DEVICE_NAME_LENGTH } from "@downlink/protocol/device-name";
import { parseDurationMs } from "@downlink/protocol/duration";
import { compileGlobs } from "@downlink/protocol/globs";
import { parseUploadRate, type RateRule } from "@downlink/protocol/upload-rate";
import { readTraceSettings } from "@downlink/tracing/settings";
import { InvalidSettingError } from "./invalid-setting-error.ts";

export function textOf(text: string): string {
  return text;
}

export function deviceNameOf(text: string): string {
  if (text.length <= MAX_DEVICE_NAME_LENGTH && deviceNamePattern.test(text)) return text;
  throw new InvalidSettingError(
    `${text} is no device name: up to 100 letters, digits, and the characters _ . -, but not . or ..`,
  );
}

/** Takes off what people copy with a URL: the `/v1` of every call, and slashes at the end. */
export function urlOf(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new InvalidSettingError(`${text} is not an http(s) URL such as https://downlink.example`);
  return text.replace(/\/+$/, "").replace(/\/v1$/, "").replace(/\/+$/, "");
}

/** Parses `http://[user:password@]host:port`; without a scheme it is `http`. An empty text stands for no proxy. */
export function proxyOf(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `http://${text}`);
  const isPlain = url !== null && url.pathname.length <= 1 && url.search === "" && url.hostname !== "";
  if (isPlain && (url.protocol === "http:" || url.protocol === "https:")) return url.href;
  throw new InvalidSettingError(`${concealCredentials(text)} is no proxy such as http://proxy.example:3128`);
}

/** Finds user and password in the URL of a proxy, together and each alone. */
export function credentialsIn(text: string): readonly string[] {
  const credentials = /^(?:\w+:\/\/)?(.*)@/.exec(text)?.[1];
  if (!credentials) return [];
  const password = credentials.slice(credentials.indexOf(":") + 1);
  return credentials === password ? [credentials] : [credentials, password].filter((secret) => secret !== "");
}

function concealCredentials(text: string): string {
  return text.replace(/^(\w+:\/\/)?.*@/, "$1…@");
}

/** Checks headers for a collector of traces, such as `authorization=Bearer%20…`, which may be secrets. */
export function traceHeadersOf(text: string): string {
  try {
    readTraceSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1", OTEL_EXPORTER_OTLP_HEADERS: text }, "");
    return text;
  } catch {
    throw new InvalidSettingError("these are no pairs such as name=value, separated by commas");
  }
}

export function groupOf(text: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}$/.test(text)) return text;
  throw new InvalidSettingError(`${text} is no name or number of a group`);
}

export function pathOf(text: string): string {
  if (!isAbsolute(text)) throw new InvalidSettingError(`${text} is not an absolute path`);
  return text === "/" ? text : text.replace(/\/+$/, "");
}

/** Splits globs at commas outside of braces that follow no backslash. */
export function globsOf(text: string): readonly string[] {
  const globs = splitOutsideBraces(text)
    .map((glob) => glob.trim())
    .filter((glob) => glob !== "");
  try {
    compileGlobs(globs);
  } catch (error) {
    throw error instanceof RangeError ? new InvalidSettingError(error.message) : error;
  }
  return globs;
}

function splitOutsideBraces(text: string): string[] {
  const pieces: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    if (unit === "\\") at += 1;
    else if (unit === "{") depth += 1;
    else if (unit === "}") depth = Math.max(0, depth - 1);
    else if (unit === "," && depth === 0) {
      pieces.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...pieces, text.slice(start)];
}

export function booleanOf(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidSettingError(`${text} is neither true nor false`);
}

export function countOf(text: string): number {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new InvalidSettingError(`${text} is not a number from 1 to 999`);
}

/** Parses `500ms`, `2s`, `10min`, `1.5h`, `1d`; at most 24 days, because timers hold no more. */
export function durationMsOf(text: string): number {
  const ms = parseDurationMs(text) ?? 0;
  if (ms >= 1 && ms <= 24 * 86_400_000) return ms;
  throw new InvalidSettingError(`${text} is not a duration such as 500ms, 2s, 10min, 1h or 1d (at most 24d)`);
}

export function oneOf<const T extends string>(...values: readonly T[]): (text: string) => T {
  return (text) => {
    const value = values.find((candidate) => candidate === text);
    if (value === undefined) throw new InvalidSettingError(`${text} is none of ${values.join(", ")}`);
    return value;
  };
}

export function uploadRateOf(text: string): readonly RateRule[] {
  try {
    return parseUploadRate(text);
  } catch (error) {
    throw error instanceof RangeError ? new InvalidSettingError(`${text} is no upload rate: ${error.message}`) : error;
  }
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Parses `127.0.0.1:9464`, `[::1]:9464`, `localhost:9464`. */
export function listenAddressOf(text: string): ListenAddress {
  const match = /^(\[[\da-f:.]+\]|[\w.-]+):(\d{1,5})$/i.exec(text);
  const port = Number(match?.[2]);
  if (match && port <= 65_535) return { host: match[1]!.replace(/^\[|\]$/g, ""), port };
  throw new InvalidSettingError(`${text} is no address to listen at such as 127.0.0.1:9464`);
}
