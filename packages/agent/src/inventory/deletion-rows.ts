import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { DeletionReason } from "@downlink/protocol";
import type { FileState } from "./file-state.ts";
import type { DeletionIntent, PastDeletion, TrackedFile } from "./tracked-file.ts";

/** How many past deletions are kept to be shown. */
const MAX_PAST = 1000;

/** The entries of the state database about deletions: intents, hashes, and the last deletions. */
export interface DeletionStatements {
  hash(file: TrackedFile): string | undefined;
  /** The hash of the version's content, whatever became of the file's times since. */
  contentHash(versionId: string): string | undefined;
  noteHash(file: TrackedFile, hash: { sha256: string; isProof: boolean }): void;
  /** The hash of the content stays known, but no deletion may rely on it any more. */
  voidProof(versionId: string): void;
  intents(): DeletionIntent[];
  intent(versionId: string): DeletionIntent | undefined;
  insertIntent(intent: Omit<DeletionIntent, "permitId">): void;
  permitIntent(versionId: string, permitId: string): void;
  deleteIntent(versionId: string): void;
  insertDeleted(file: TrackedFile, intent: DeletionIntent, atNs: bigint): void;
  /** The latest deletion comes first. */
  lastDeleted(limit: number): PastDeletion[];
}

export function prepareDeletionStatements(database: DatabaseSync): DeletionStatements {
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  };
  const hash = prepare("SELECT sha256 FROM hashes WHERE version_id = ? AND ctime_ns = ? AND is_proof = 1");
  const contentHash = prepare("SELECT sha256 FROM hashes WHERE version_id = ?");
  // A hash that is a proof for the file as it is stays one, whatever else becomes known about its content.
  const noteHash = prepare(`INSERT INTO hashes (version_id, sha256, ctime_ns, is_proof) VALUES (?, ?, ?, ?)
    ON CONFLICT (version_id) DO UPDATE SET sha256 = excluded.sha256, ctime_ns = excluded.ctime_ns,
      is_proof = max(excluded.is_proof, is_proof AND sha256 = excluded.sha256 AND ctime_ns = excluded.ctime_ns)`);
  const voidProof = prepare("UPDATE hashes SET is_proof = 0 WHERE version_id = ?");
  // A deletion of a file whose card is out waits for the card.
  const intents = prepare("SELECT * FROM intents WHERE version_id NOT IN (SELECT version_id FROM away)");
  const intent = prepare("SELECT * FROM intents WHERE version_id = ?");
  const insertIntent = prepare("INSERT OR REPLACE INTO intents (version_id, reason, state_before) VALUES (?, ?, ?)");
  const permitIntent = prepare("UPDATE intents SET permit_id = ? WHERE version_id = ?");
  const deleteIntent = prepare("DELETE FROM intents WHERE version_id = ?");
  const insertDeleted =
    prepare(`INSERT INTO deleted (version_id, path, size_bytes, reason, permit_id, sha256, deleted_at_ns)
    VALUES ($versionId, $path, $sizeBytes, $reason, $permitId, $sha256, $atNs)`);
  const forgetOld = prepare(`DELETE FROM deleted WHERE id <= (SELECT max(id) FROM deleted) - ${MAX_PAST}`);
  const lastDeleted = prepare("SELECT * FROM deleted ORDER BY id DESC LIMIT ?");
  const hashOf = ({ versionId, identity }: TrackedFile) =>
    hash.get(versionId, identity.ctimeNs)?.sha256 as string | undefined;
  return {
    hash: hashOf,
    contentHash: (versionId) => contentHash.get(versionId)?.sha256 as string | undefined,
    noteHash: ({ versionId, identity }, { sha256, isProof }) =>
      void noteHash.run(versionId, sha256, identity.ctimeNs, isProof ? 1 : 0),
    voidProof: (versionId) => void voidProof.run(versionId),
    intents: () => intents.all().map(toIntent),
    intent: (versionId) => optional(intent.get(versionId), toIntent),
    insertIntent: ({ versionId, reason, stateBefore }) => void insertIntent.run(versionId, reason, stateBefore),
    permitIntent: (versionId, permitId) => void permitIntent.run(permitId, versionId),
    deleteIntent: (versionId) => void deleteIntent.run(versionId),
    insertDeleted(file, { reason, permitId }, atNs) {
      const facts = { versionId: file.versionId, path: file.path, sizeBytes: file.identity.sizeBytes, reason, atNs };
      insertDeleted.run({
        ...facts,
        permitId: permitId || null,
        sha256: contentHash.get(file.versionId)?.sha256 ?? null,
      });
      forgetOld.run();
    },
    lastDeleted: (limit) => lastDeleted.all(limit).map(toPastDeletion),
  };
}

type Row = Record<string, unknown>;

function optional<T>(row: Record<string, SQLInputValue> | undefined, convert: (row: Row) => T): T | undefined {
  return row && convert(row);
}

function toIntent(row: Row): DeletionIntent {
  return {
    versionId: row.version_id as string,
    reason: row.reason as DeletionReason,
    stateBefore: row.state_before as FileState,
    permitId: (row.permit_id ?? undefined) as string | undefined,
  };
}

function toPastDeletion(row: Row): PastDeletion {
  return {
    path: row.path as string,
    sizeBytes: Number(row.size_bytes),
    reason: row.reason as DeletionReason,
    atNs: row.deleted_at_ns as bigint,
  };
}
