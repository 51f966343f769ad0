import type { DatabaseSync } from "node:sqlite";
import type { ImportOutcome } from "./tracked-file.ts";

/**
 * The entries of the state database about the ends of imports and about local requests. An end is kept until the file moves on, so that
 * `explain` gives the control plane's own reason also after a restart.
 */
export interface OutcomeStatements {
  outcome(versionId: string): ImportOutcome | undefined;
  setOutcome(versionId: string, outcome: ImportOutcome): void;
  deleteOutcome(versionId: string): void;
  /** Version ids of local requests, in no order. */
  localRequests(): string[];
  insertLocalRequest(versionId: string): void;
  deleteLocalRequest(versionId: string): void;
}

export function prepareOutcomeStatements(database: DatabaseSync): OutcomeStatements {
  const outcome = database.prepare("SELECT code, text FROM outcomes WHERE version_id = ?");
  const setOutcome = database.prepare("INSERT OR REPLACE INTO outcomes (version_id, code, text) VALUES (?, ?, ?)");
  const deleteOutcome = database.prepare("DELETE FROM outcomes WHERE version_id = ?");
  const localRequests = database.prepare("SELECT version_id FROM wishes");
  const insertLocalRequest = database.prepare("INSERT OR IGNORE INTO wishes (version_id) VALUES (?)");
  const deleteLocalRequest = database.prepare("DELETE FROM wishes WHERE version_id = ?");
  return {
    outcome(versionId) {
      const row = outcome.get(versionId);
      return row && { code: String(row.code), text: String(row.text) };
    },
    setOutcome: (versionId, { code, text }) => void setOutcome.run(versionId, code, text),
    deleteOutcome: (versionId) => void deleteOutcome.run(versionId),
    localRequests: () => localRequests.all().map((row) => String(row.version_id)),
    insertLocalRequest: (versionId) => void insertLocalRequest.run(versionId),
    deleteLocalRequest: (versionId) => void deleteLocalRequest.run(versionId),
  };
}
