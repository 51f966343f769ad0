import type { DatabaseSync } from "node:sqlite";
import type { AgentSettings } from "@downlink/protocol";

const FACT = "cloudSettings";

/** Reads the last settings of the control plane. They are kept to be shown while no agent runs. */
export function readCloudSettings(database: DatabaseSync): AgentSettings {
  const value = database.prepare("SELECT value FROM facts WHERE name = ?").get(FACT)?.value;
  return value === undefined ? {} : (JSON.parse(String(value)) as AgentSettings);
}

/** Writes only what changed. */
export function noteCloudSettings(
  database: DatabaseSync,
  { autoImport, uploadRate, uploadConcurrency }: AgentSettings,
): void {
  const value = JSON.stringify({ autoImport, uploadRate, uploadConcurrency });
  const known = database.prepare("SELECT value FROM facts WHERE name = ?").get(FACT)?.value;
  if (known === value) return;
  database.prepare("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(FACT, value);
}
