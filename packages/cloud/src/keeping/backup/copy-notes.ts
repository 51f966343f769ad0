import type { Folder } from "../../store/blobs/folder.ts";
import type { NoteStore } from "../../store/blobs/notes.ts";
import type { BackupFile } from "./backup-record.ts";
import { type NoteLine, toLines } from "./lines.ts";

/** All kinds of notes. */
export const NOTE_KINDS = ["ledger", "manifests", "marks"] as const;
const LINES_PER_FILE = 1000;
const BYTES_PER_FILE = 4 * 1024 * 1024;

interface Copying {
  readonly notes: Pick<NoteStore, "listNotes" | "getNote">;
  readonly folder: Folder;
  readonly backup: string;
}

/** Copies all notes of the store. A note that is removed meanwhile is left out. */
export async function copyNotes({ notes, folder, backup }: Copying): Promise<{ count: number; files: BackupFile[] }> {
  const files: BackupFile[] = [];
  let count = 0;
  for await (const lines of groupIntoFiles(readNotes(notes))) {
    const name = `${backup}/notes-${String(files.length + 1).padStart(6, "0")}`;
    files.push({ name, ...(await folder.put(name, toLines(lines))) });
    count += lines.length;
  }
  return { count, files };
}

async function* readNotes(notes: Copying["notes"]): AsyncGenerator<NoteLine, void> {
  for (const kind of NOTE_KINDS)
    for await (const { key } of notes.listNotes(`${kind}/`)) {
      const bytes = await notes.getNote(key);
      if (bytes) yield { key, base64: Buffer.from(bytes).toString("base64") };
    }
}

async function* groupIntoFiles(lines: AsyncIterable<NoteLine>): AsyncGenerator<NoteLine[], void> {
  let file: NoteLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    file.push(line);
    bytes += line.base64.length;
    if (file.length < LINES_PER_FILE && bytes < BYTES_PER_FILE) continue;
    yield file;
    [file, bytes] = [[], 0];
  }
  if (file.length > 0) yield file;
}
