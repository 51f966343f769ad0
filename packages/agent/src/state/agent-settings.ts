import type { DatabaseSync } from "node:sqlite";
import type { Settings } from "../settings/settings.ts";
import { isStateUnwritable } from "./state-errors.ts";

const FACT = "agentSettings";
const shown = [
  "apiUrl",
  "storageRoot",
  "watchInclude",
  "watchExclude",
  "autoImport",
  "scanIntervalMs",
  "settleTimeMs",
  "incompleteAfterMs",
] as const;

/** The settings that `status` and `explain` need, as of the agent's last start; no secret is among them. */
export type ShownSettings = Partial<Pick<Settings, (typeof shown)[number]>>;

/** Reads the settings for users who may read the state but not the file of the settings, which holds the token. */
export function readAgentSettings(database: DatabaseSync): ShownSettings {
  const value = database.prepare("SELECT value FROM facts WHERE name = ?").get(FACT)?.value;
  return value === undefined ? {} : (JSON.parse(String(value)) as ShownSettings);
}

/** Writes only what changed. On a full disk the agent still runs, and readers see the settings of an earlier start. */
export function noteAgentSettings(database: DatabaseSync, settings: Settings): void {
  const value = JSON.stringify(Object.fromEntries(shown.map((name) => [name, settings[name]])));
  const known = database.prepare("SELECT value FROM facts WHERE name = ?").get(FACT)?.value;
  if (known === value) return;
  try {
    database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(FACT, value);
  } catch (error) {
    if (!isStateUnwritable(error)) throw error;
  }
}
