import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from "node:sqlite";
import { awayPath } from "./card-rows.ts";
import { type FileState, fileStates } from "./file-state.ts";
import { fileNumber } from "./identity.ts";
import type { Away, Findings, GoneBecause, Removal, ReportedState, Schema, TrackedFile } from "./tracked-file.ts";

type Row = Record<string, SQLOutputValue>;

export interface Statements {
  /** False when the path is taken. */
  insertFile(file: TrackedFile): boolean;
  /** False when the path is taken. */
  updateFile(file: TrackedFile): boolean;
  /** Writes ctime alone, because it may change for a hundred thousand files at once. False when the path is taken. */
  setCtime(file: TrackedFile): boolean;
  deleteFile(versionId: string): void;
  insertRemoval(versionId: string, removal: Removal): void;
  deleteRemoval(versionId: string): void;
  insertFindings(values: Record<string, SQLInputValue>): void;
  insertSchema(schema: Schema): void;
  findings(versionId: string): Findings | undefined;
  schema(sha256: string): Uint8Array | undefined;
}

export function prepareStatements(database: DatabaseSync): Statements {
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql);
    statement.setReadBigInts(true);
    return statement;
  };
  const insertFile =
    prepare(`INSERT OR IGNORE INTO files (version_id, path, device, inode, size_bytes, mtime_ns, ctime_ns, state, reported_as, needs_report)
    VALUES ($versionId, $path, $device, $inode, $sizeBytes, $mtimeNs, $ctimeNs, $state, $reportedAs, $needsReport)`);
  const updateFile =
    prepare(`UPDATE OR IGNORE files SET path = $path, device = $device, inode = $inode, size_bytes = $sizeBytes,
    mtime_ns = $mtimeNs, ctime_ns = $ctimeNs, state = $state, reported_as = $reportedAs, needs_report = $needsReport WHERE version_id = $versionId`);
  const setCtime = prepare("UPDATE files SET ctime_ns = ? WHERE version_id = ?");
  const updateAway = prepare("UPDATE away SET state_before = ? WHERE version_id = ?");
  const deleteFile = prepare("DELETE FROM files WHERE version_id = ?");
  const insertRemoval = prepare("INSERT OR REPLACE INTO removals (version_id, reported_as, because) VALUES (?, ?, ?)");
  const deleteRemoval = prepare("DELETE FROM removals WHERE version_id = ?");
  const insertFindings =
    prepare(`INSERT OR REPLACE INTO findings (version_id, head_tail_sha256, start_ns, end_ns, reason_code, reason_text, item)
    VALUES ($versionId, $headTailSha256, $startNs, $endNs, $reasonCode, $reasonText, $item)`);
  const insertSchema = prepare("INSERT OR IGNORE INTO schemas (sha256, data) VALUES (?, ?)");
  const findings = prepare("SELECT * FROM findings WHERE version_id = ?");
  const schema = prepare("SELECT data FROM schemas WHERE sha256 = ?");
  return {
    insertFile: (file) => insertFile.run(toRow(file)).changes > 0,
    updateFile(file) {
      if (file.away) updateAway.run(file.away.before, file.versionId);
      return updateFile.run(toRow(file)).changes > 0;
    },
    setCtime: ({ versionId, identity }) => setCtime.run(identity.ctimeNs, versionId).changes > 0,
    deleteFile: (versionId) => void deleteFile.run(versionId),
    insertRemoval: (versionId, { reportedAs, because }) =>
      void insertRemoval.run(versionId, reportedAs ?? null, because),
    deleteRemoval: (versionId) => void deleteRemoval.run(versionId),
    insertFindings: (values) => void insertFindings.run(values),
    insertSchema: ({ sha256, data }) => void insertSchema.run(sha256, data),
    findings: (versionId) => toFindings(findings.get(versionId)),
    schema: (sha256) => schema.get(sha256)?.data as Uint8Array | undefined,
  };
}

export function writeFindings(
  statements: Statements,
  { versionId, findings }: { versionId: string; findings: Findings },
): void {
  statements.insertFindings({
    versionId,
    headTailSha256: findings.headTailSha256,
    startNs: findings.startNs ?? null,
    endNs: findings.endNs ?? null,
    reasonCode: findings.reason?.code ?? null,
    reasonText: findings.reason?.text ?? null,
    item: findings.item ?? null,
  });
}

/** `files` can be iterated only once. */
export function loadInventory(database: DatabaseSync): { files: Iterable<TrackedFile>; removals: [string, Removal][] } {
  const files = database.prepare(
    `SELECT files.*, end_ns, card, away.path AS path_there, state_before, since_ns
     FROM files LEFT JOIN findings USING (version_id) LEFT JOIN away USING (version_id) ORDER BY files.id`,
  );
  files.setReadBigInts(true);
  const removals = database.prepare("SELECT * FROM removals").all();
  return {
    files: files.iterate().map(toFile),
    removals: removals.map((row) => [
      row.version_id as string,
      { reportedAs: (row.reported_as ?? undefined) as ReportedState | undefined, because: row.because as GoneBecause },
    ]),
  };
}

/** Device and inode are unsigned 64 bits; SQLite's integers are signed. */
function toRow(file: TrackedFile): Record<string, SQLInputValue> {
  const { identity } = file;
  return {
    versionId: file.versionId,
    path: file.away ? awayPath(file.away.card, file.path) : file.path,
    device: BigInt.asIntN(64, BigInt(identity.device)),
    inode: BigInt.asIntN(64, BigInt(identity.inode)),
    sizeBytes: identity.sizeBytes,
    mtimeNs: identity.mtimeNs,
    ctimeNs: identity.ctimeNs,
    state: file.state,
    reportedAs: file.reportedAs ?? null,
    needsReport: file.needsReport ? 1 : 0,
  };
}

/** Values that are the same in most files share one object in memory. */
function toFile(row: Row): TrackedFile {
  return {
    versionId: row.version_id as string,
    path: (row.path_there ?? row.path) as string,
    identity: {
      device: fileNumber(BigInt.asUintN(64, row.device as bigint)),
      inode: fileNumber(BigInt.asUintN(64, row.inode as bigint)),
      sizeBytes: Number(row.size_bytes),
      mtimeNs: row.mtime_ns as bigint,
      ctimeNs: (row.ctime_ns === row.mtime_ns ? row.mtime_ns : row.ctime_ns) as bigint,
    },
    // An upload ends with its process.
    state: row.state === "uploading" ? "requested" : words.get(row.state as FileState)!,
    endNs: (row.end_ns ?? undefined) as bigint | undefined,
    ...(row.card === null ? {} : { away: toAway(row) }),
    reportedAs: words.get(row.reported_as as FileState) as ReportedState | undefined,
    needsReport: row.needs_report === 1n,
    revision: 0,
    foundIn: 0,
  };
}

function toAway(row: Row): Away {
  const { card, state_before: before, since_ns: sinceNs } = row;
  return { card: card as string, before: words.get(before as FileState)!, sinceNs: sinceNs as bigint };
}

const words = new Map(fileStates.map((state) => [state, state]));

export function toFindings(row: Row | undefined): Findings | undefined {
  if (!row) return undefined;
  const { reason_code: code, reason_text: text } = row;
  return {
    headTailSha256: row.head_tail_sha256 as string,
    startNs: (row.start_ns ?? undefined) as bigint | undefined,
    endNs: (row.end_ns ?? undefined) as bigint | undefined,
    reason: typeof code === "string" ? { code, text: String(text) } : undefined,
    item: (row.item ?? undefined) as string | undefined,
  };
}
