import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Recordings of other programs, beside the repository; absent in most checkouts. */
const sharedData = fileURLToPath(new URL("../../../../../shared/data/", import.meta.url));

export const realFolder: string = join(sharedData, "real");
export const oddFolder: string = join(sharedData, "odd-mcap");
export const fieldFolder: string = join(sharedData, "field");
/** Small files of damages that were found later. */
export const field2Folder: string = join(sharedData, "field2");
export const conformanceFolder: string = join(sharedData, "mcap-conformance");

/** The paths of all files below with this ending; none where the data are absent. */
export function listSharedFiles(folder: string, ending: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}

/** For the `skip` option of a test. */
export function skipWithout(folder: string): string | false {
  return existsSync(folder) ? false : `the shared recordings are not beside this checkout (${folder})`;
}
