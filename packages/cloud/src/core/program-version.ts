import { readFileSync } from "node:fs";

/** The version of this program, as its packages have it. */
export const PROGRAM_VERSION = (
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as { version: string }
).version;
