import { globSync } from "node:fs";
import { join, resolve } from "node:path";

/** Where `npm run packages:test` finds what `npm run package` made; it sets the variable. */
export const PACKAGES_VARIABLE = "DOWNLINK_TEST_PACKAGES";

/** Finds the file of a package by a pattern, or undefined where it was not made. */
export function packageFile(pattern: string): string | undefined {
  const folder = process.env[PACKAGES_VARIABLE];
  if (folder === undefined) return undefined;
  const [found] = globSync(pattern, { cwd: folder });
  return found && resolve(join(folder, found));
}
