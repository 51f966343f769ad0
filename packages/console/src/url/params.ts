import { formatTimestamp } from "@downlink/protocol";
import { isRelative, parseTime } from "../time/parse-time.ts";

/** One parameter of an address: how it is read and written. Writing undefined leaves it out. */
export interface Param<T> {
  /** Returns undefined for a text that means nothing. */
  read(text: string): T | undefined;
  write(value: T): string | undefined;
  /** The value without the parameter. */
  readonly fallback: T;
}

export type Values<P> = { readonly [K in keyof P]: P[K] extends Param<infer T> ? T : never };

/** Reads the parameters of a page. Texts that mean nothing are named, and count as absent. */
export function readParams<P extends Record<string, Param<unknown>>>(
  params: P,
  query: Readonly<Record<string, string>>,
): { values: Values<P>; problems: string[] } {
  const problems = Object.keys(query)
    .filter((name) => !Object.hasOwn(params, name))
    .map((name) => `“${name}” is not known here`);
  const values = Object.entries(params).map(([name, param]) => {
    const text = Object.hasOwn(query, name) ? query[name] : undefined;
    const value = text === undefined || text === "" ? undefined : param.read(text);
    if (value === undefined && text) problems.push(`“${text}” is not a valid ${name}`);
    return [name, value ?? param.fallback];
  });
  return { values: Object.fromEntries(values) as Values<P>, problems };
}

/** Writes the parameters that differ from their fallback: `?a=1&b=2`, or nothing. */
export function writeParams<P extends Record<string, Param<unknown>>>(params: P, values: Partial<Values<P>>): string {
  const search = new URLSearchParams();
  for (const [name, param] of Object.entries(params)) {
    const value = (values as Record<string, unknown>)[name];
    const text = value === undefined ? undefined : param.write(value);
    if (text !== undefined && text !== "") search.set(name, text);
  }
  const text = search.toString().replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%2C", ",");
  return text === "" ? "" : `?${text}`;
}

export const textParam: Param<string> = { read: (text) => text, write: (value) => value, fallback: "" };

export const flagParam: Param<boolean> = {
  read: (text) => ({ "1": true, "0": false })[text],
  write: (value) => (value ? "1" : undefined),
  fallback: false,
};

/** Makes a parameter of one of some words. */
export function choiceParam<T extends string>(choices: readonly T[], fallback: NoInfer<T>): Param<T> {
  return {
    read: (text) => choices.find((choice) => choice === text),
    write: (value) => (value === fallback ? undefined : value),
    fallback,
  };
}

/** Makes a parameter of some of the given words, separated by commas. */
export function choicesParam<T extends string>(choices: readonly T[]): Param<readonly T[]> {
  return {
    read(text) {
      const chosen = text.split(",").filter((part) => part !== "");
      return chosen.every((part) => choices.includes(part as T)) ? [...new Set(chosen as T[])] : undefined;
    },
    write: (values) => values.join(","),
    fallback: [],
  };
}

/** Any texts without commas, such as ids and topics. */
export const listParam: Param<readonly string[]> = {
  read: (text) => text.split(",").filter((part) => part !== ""),
  write: (values) => values.join(","),
  fallback: [],
};

export function countParam(fallback: number): Param<number> {
  return {
    read: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
    write: (value) => (value === fallback ? undefined : String(value)),
    fallback,
  };
}

/** A moment as it stands in the address: RFC 3339, or a distance from now such as `now-7d`, which stays one. */
export const timeParam: Param<string> = {
  read(text) {
    const parsed = parseTime(text, { zone: "UTC", nowMs: 0 });
    if ("problem" in parsed) return undefined;
    return isRelative(text) ? text.toLowerCase().replaceAll(" ", "") : formatTimestamp(parsed.timeNs);
  },
  write: (value) => value,
  fallback: "",
};
