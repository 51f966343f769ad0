import { setImmediate } from "node:timers/promises";
import picomatch from "picomatch";
import type { Inventory } from "../inventory/inventory.ts";
import type { StateFacts } from "../inventory/owner.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";

/** Which files are to be imported without being asked for: the report of each says so. */
export interface AutoImport {
  matches(path: string): boolean;
  /** Tells files anew that match since the globs changed. Whatever was told, and asked for since, the cloud knows. */
  retell(): Promise<void>;
}

export interface AutoImportContext {
  readonly inventory: Inventory;
  readonly facts: StateFacts;
  /** As they are now: the device's own, else what the control plane set. */
  readonly globs: () => readonly string[];
}

const STEPS_PER_COMMIT = 2000;

export function createAutoImport({ inventory, facts, globs }: AutoImportContext): AutoImport {
  let compiled: { readonly text: string; readonly matches: (path: string) => boolean } | undefined;
  const current = () => {
    const text = JSON.stringify(globs());
    if (compiled?.text !== text) compiled = { text, matches: compile(globs()) };
    return compiled;
  };
  return {
    matches: (path) => current().matches(path),
    async retell() {
      const { text, matches } = current();
      if ((facts.autoImportTold() ?? NONE) === text) return;
      const isMeant = ({ reportedAs, path }: TrackedFile) => reportedAs === "indexed" && matches(path);
      const files = inventory.files().filter(isMeant).toArray();
      for (let at = 0; at < files.length; at += STEPS_PER_COMMIT) {
        const batch = files.slice(at, at + STEPS_PER_COMMIT);
        inventory.change(batch.map(({ versionId }) => ({ do: "retell", versionId })));
        await setImmediate();
      }
      facts.noteAutoImportTold(text); // Only now: what a crash left untold is told anew.
    },
  };
}

const NONE = "[]";

function compile(globs: readonly string[]): (path: string) => boolean {
  return globs.length === 0 ? () => false : picomatch([...globs], { dot: true, nocase: true });
}
