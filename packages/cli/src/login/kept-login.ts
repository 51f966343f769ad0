import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { UsageError } from "../failures/failures.ts";

/** The address and the key that `dl login` keeps. */
export interface Login {
  readonly url: string;
  /** Is sent with each call: an API key, or the token of a member's session, which the service takes in the same place. */
  readonly apiKey: string;
  readonly isSession?: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the path of the file that keeps logins. Only its owner may read it. */
export function loginFile({ XDG_CONFIG_HOME, HOME }: Environment): string {
  return join(XDG_CONFIG_HOME || join(HOME || homedir(), ".config"), "downlink", "login.json");
}

/** Returns undefined where there was no `dl login`. Throws {@link UsageError} for a file that no `dl login` wrote. */
export function readLogin(file: string): Login | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const { url, apiKey, isSession } = JSON.parse(text) as Partial<Login>;
    if (typeof url === "string" && typeof apiKey === "string") return { url, apiKey, isSession: isSession === true };
  } catch {} // A file that cannot be parsed is refused below.
  throw new UsageError(`${file} cannot be read. Log in again: dl login URL`);
}

/** The file is there whole or not at all, and never with wider rights. */
export function writeLogin(file: string, login: Login): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(login)}\n`, { mode: 0o600 });
  chmodSync(beside, 0o600);
  renameSync(beside, file);
}
