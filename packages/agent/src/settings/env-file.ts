import { InvalidSettingError } from "./invalid-setting-error.ts";

/** Handles a mistake: throws it, or reports it and goes on without the value. */
export type OnMistake = (mistake: InvalidSettingError) => void;

export function throwMistake(mistake: InvalidSettingError): never {
  throw mistake;
}

/** Parses `KEY=value` lines as systemd does: `#` and `;` begin a comment line, quotes around a value are taken off. */
export function parseEnvFile(path: string, text: string, onMistake: OnMistake = throwMistake): Map<string, string> {
  const values = new Map<string, string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*([#;].*)?$/s.test(line)) continue;
    const match = /^\s*([A-Za-z_]\w*)\s*=(.*)$/s.exec(line);
    if (match) values.set(match[1]!, unquote(match[2]!.trim()));
    else onMistake(new InvalidSettingError(`${path}:${index + 1}: expected KEY=value`));
  }
  return values;
}

/** Throws {@link InvalidSettingError} for a value that a line cannot hold. */
export function formatEnvFile(values: ReadonlyMap<string, string>): string {
  return [...values].map(([key, value]) => `${key}=${quote(key, value)}\n`).join("");
}

function quote(key: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new InvalidSettingError(`${key} must not contain a line break`);
  if (/^[\w@%+=:,./-]*$/.test(value)) return value;
  return `"${value.replace(/["\\]/g, "\\$&")}"`;
}

function unquote(text: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"$/s.exec(text);
  if (double) return double[1]!.replace(/\\(.)/gs, "$1");
  return /^'([^']*)'$/.exec(text)?.[1] ?? text;
}
