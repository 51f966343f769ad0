import { readFileSync } from "node:fs";
import type { ReadStream } from "node:tty";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { describeSystemError } from "../system/system-error.ts";

/** After this time without input, a note says what the program waits for. */
const PATIENCE_MS = 1000;
const keys = { enter: ["\r", "\n", "\u0004"], erase: ["\u007f", "\b"], interrupt: "\u0003" };

interface Ends {
  readonly input: NodeJS.ReadStream;
  readonly notes: NodeJS.WritableStream;
}

/** Reads the token from the first line of a file; `-` is the standard input. Throws {@link InvalidSettingError}. */
export async function readTokenFile(path: string, ends: Ends): Promise<string> {
  if (path === "-") return await readTokenFrom(ends);
  try {
    return tokenOf(readFileSync(path, "utf8"), path);
  } catch (error) {
    if (error instanceof InvalidSettingError) throw error;
    throw new InvalidSettingError(
      `the token cannot be read from ${path}: ${describeSystemError(error)}. Give --token-file the file that holds it`,
    );
  }
}

/** Reads the token from the first line of the input; on a terminal it asks for it, and does not show what is typed. */
export async function readTokenFrom({ input, notes }: Ends): Promise<string> {
  if (input.isTTY) return tokenOf(await askHidden(input, notes), "what was typed");
  const note = setTimeout(() => notes.write("agent: waits for the token on standard input\n"), PATIENCE_MS);
  try {
    return tokenOf(await readLine(input), "the standard input");
  } finally {
    clearTimeout(note);
  }
}

async function readLine(input: NodeJS.ReadStream): Promise<string> {
  let text = "";
  for await (const chunk of input.setEncoding("utf8")) {
    text += String(chunk);
    if (text.includes("\n")) break;
  }
  return text;
}

async function askHidden(input: ReadStream, notes: NodeJS.WritableStream): Promise<string> {
  notes.write("Token of the device or site: ");
  let typed = "";
  input.setEncoding("utf8").setRawMode(true);
  try {
    for await (const chunk of input.iterator({ destroyOnReturn: false })) {
      for (const key of String(chunk)) {
        if (key === keys.interrupt) throw new InvalidSettingError("no token was given, and nothing was written");
        if (keys.enter.includes(key)) return typed;
        typed = keys.erase.includes(key) ? typed.slice(0, -1) : typed + key;
      }
    }
    return typed;
  } finally {
    input.setRawMode(false).pause();
    notes.write("\n");
  }
}

function tokenOf(text: string, where: string): string {
  const token = text.split(/\r?\n/)[0]!.trim();
  if (/^\S+$/.test(token)) return token;
  throw new InvalidSettingError(
    `${where} holds no token in its first line. The control plane makes one for each device or site; it begins with dl_dt_ or dl_st_`,
  );
}
