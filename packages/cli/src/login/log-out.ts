import { rmSync } from "node:fs";
import { printable } from "@downlink/terminal/printable";
import { UsageError } from "../failures/failures.ts";
import { loginFile, readLogin } from "./kept-login.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Removes the kept login, also one that cannot be read. Returns lines that say what was removed, and what was not. */
export function logOut(environment: Environment): string[] {
  const file = loginFile(environment);
  const found = findLogin(file);
  const still = environment.DOWNLINK_API_KEY ? ["DOWNLINK_API_KEY is set, and is used as before."] : [];
  if (found === undefined) return [`There is no login to remove: ${file} does not exist.`, ...still];
  rmSync(file);
  if (found === "unreadable") return [`${file} could not be read, and was removed.`, ...still];
  const url = printable(found.url);
  return [
    `The address ${url} and its API key were removed from ${file}.`,
    `The key itself still works, for those who have it. Delete it where it was made: ${url}/settings/keys`,
    ...still,
  ];
}

function findLogin(file: string) {
  try {
    return readLogin(file);
  } catch (error) {
    if (error instanceof UsageError) return "unreadable";
    throw error;
  }
}
