import { fstatSync, readFileSync } from "node:fs";
import { askHidden } from "@downlink/terminal/ask-hidden";
import { readLine } from "@downlink/terminal/read-line";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { describeSystemError } from "../system/system-error.ts";

/** After this time without input, a note says what the program waits for. */
const PATIENCE_MS = 1000;

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
  if (input.isTTY) {
    const typed = await askHidden(input, notes, "Token of the device or site: ");
    if (typed === undefined) throw new InvalidSettingError("no token was given, and nothing was written");
    return tokenOf(typed, "what was typed");
  }
  return tokenOf(await readPipedLine({ input, notes }), "the standard input");
}

/** Reads a token that was piped to the program; undefined where nothing was. */
export async function readPipedToken(ends: Ends): Promise<string | undefined> {
  if (ends.input.isTTY || fstatSync(0).isCharacterDevice()) return undefined;
  const line = await readPipedLine(ends);
  return line.trim() === "" ? undefined : tokenOf(line, "the standard input");
}

async function readPipedLine({ input, notes }: Ends): Promise<string> {
  const note = setTimeout(() => notes.write("agent: waits for the token on standard input\n"), PATIENCE_MS);
  try {
    return await readLine(input);
  } finally {
    clearTimeout(note);
  }
}

function tokenOf(text: string, where: string): string {
  const token = text.split(/\r?\n/)[0]!.trim();
  if (/^\S+$/.test(token)) return token;
  throw new InvalidSettingError(
    `${where} holds no token in its first line. The control plane makes a token for each device or site; it begins with dl_dt_ or dl_st_`,
  );
}
