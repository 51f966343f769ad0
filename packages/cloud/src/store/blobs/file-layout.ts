// All files of a key stand in one of 256 directories:
//
// - `org+upl`, or a name with `.mcap` behind it, is the object; it is whole and durable from the moment it has this name.
// - `org+upl.partial` has the parts of an unfinished upload, each at its offset.
// - `org+upl.journal` is its plan and says which parts are durable (part-journal.ts); while it is there the upload is open.
// - `org+upl.<number>.pieces` says which pieces of a part are durable (piece-journal.ts); it goes once the whole part is.
// - `org+upl.<number>.<random>.piece` has the bytes of one piece.
// - `org+upl.<random>.temporary` has bytes that are not verified yet.

import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { checkKey } from "./object-key.ts";

const SHARD = /^[0-9a-f]{2}$/;
const PIECE_JOURNAL = /^\.([1-9]\d*)\.pieces$/;
const FILE = /^(?<key>[a-z0-9_+-]+(?:\.mcap)?)(?<rest>\.[a-z0-9.]+)?$/;

/**
 * The files of one key. All of them stand in one directory, so that a hard link can give an object its name, and their suffixes tell them
 * apart. `directory` is one of 256, so that each of them holds 4,000 of a million objects.
 */
export interface KeyFiles {
  readonly directory: string;
  /** The file name of the object; the names of the others begin with it and a dot. */
  readonly name: string;
  readonly object: string;
  /** The file for the parts of an unfinished upload, each at its offset. */
  readonly partial: string;
  readonly journal: string;
}

/** Names the files of a key. Throws a TypeError for a text that is no key. */
export function filesOf(root: string, key: string): KeyFiles {
  checkKey(key);
  const name = key.replaceAll("/", "+");
  const directory = join(root, createHash("sha256").update(key).digest("hex").slice(0, 2));
  const object = join(directory, name);
  return { directory, name, object, partial: `${object}.partial`, journal: `${object}.journal` };
}

/** Names the journal of a part that comes in pieces. */
export function pieceJournalFile(files: KeyFiles, partNumber: number): string {
  return `${files.object}.${partNumber}.pieces`;
}

/** Makes a name for the bytes of one piece; no name is given twice. */
export function newPieceName(files: KeyFiles, partNumber: number): string {
  return `${files.name}.${partNumber}.${randomBytes(8).toString("hex")}.piece`;
}

/** Returns the number of the part to whose pieces this journal belongs, or undefined for any other file. */
export function partOfPieceJournal(files: KeyFiles, fileName: string): number | undefined {
  const number = fileName.startsWith(`${files.name}.`) && PIECE_JOURNAL.exec(fileName.slice(files.name.length))?.[1];
  return number ? Number(number) : undefined;
}

/** Makes a name for bytes that may still be dropped; no name is given twice. */
export function temporaryFile(files: KeyFiles): string {
  return `${files.object}.${randomBytes(8).toString("hex")}.temporary`;
}

export function isShard(directoryName: string): boolean {
  return SHARD.test(directoryName);
}

/** Returns the key that a file belongs to, and whether the file is the object itself; undefined for a file that the store did not make. */
export function readFileName(fileName: string): { key: string; isObject: boolean } | undefined {
  const found = FILE.exec(fileName)?.groups;
  return found && { key: found.key!.replaceAll("+", "/"), isObject: found.rest === undefined };
}
