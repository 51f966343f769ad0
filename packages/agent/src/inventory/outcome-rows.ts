import type { DatabaseSync } from "node:sqlite";
import type { ImportOutcome } from "./tracked-file.ts";

export interface OutcomeStatements {
  outcome(versionId: string): ImportOutcome | undefined;
  setOutcome(versionId: string, outcome: ImportOutcome): void;
  deleteOutcome(versionId: string): void;
  /** Version ids, in no order. */
  wishes(): string[];
  insertWish(versionId: string): void;
  deleteWish(versionId: string): void;
}

export function prepareOutcomeStatements(database: DatabaseSync): OutcomeStatements {
  const outcome = database.prepare("SELECT code, text FROM outcomes WHERE version_id = ?");
  const setOutcome = database.prepare("INSERT OR REPLACE INTO outcomes (version_id, code, text) VALUES (?, ?, ?)");
  const deleteOutcome = database.prepare("DELETE FROM outcomes WHERE version_id = ?");
  const wishes = database.prepare("SELECT version_id FROM wishes");
  const insertWish = database.prepare("INSERT OR IGNORE INTO wishes (version_id) VALUES (?)");
  const deleteWish = database.prepare("DELETE FROM wishes WHERE version_id = ?");
  return {
    outcome(versionId) {
      const row = outcome.get(versionId);
      return row && { code: String(row.code), text: String(row.text) };
    },
    setOutcome: (versionId, { code, text }) => void setOutcome.run(versionId, code, text),
    deleteOutcome: (versionId) => void deleteOutcome.run(versionId),
    wishes: () => wishes.all().map((row) => String(row.version_id)),
    insertWish: (versionId) => void insertWish.run(versionId),
    deleteWish: (versionId) => void deleteWish.run(versionId),
  };
}
