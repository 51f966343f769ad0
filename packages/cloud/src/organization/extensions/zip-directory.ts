// This refuses zips that two programs may unpack differently, instead of choosing one reading. It decompresses nothing but the manifest, of
// at most 1 MiB.

import { invalid } from "../../core/errors.ts";

/** One file of a package, as its central directory describes it. */
export interface ZipEntry {
  /** The name's bytes as Latin-1 text: ASCII looks the same in each of the encodings that a zip may use. */
  readonly name: string;
  readonly method: number;
  readonly crc32: number;
  readonly compressedBytes: number;
  readonly sizeBytes: number;
  /** The offset at which the local header begins. */
  readonly offset: number;
}

/** Random access to the package; `read` returns exactly the requested bytes. */
export interface ZipSource {
  readonly sizeBytes: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const HEADER_BYTES = 46;
const LOCAL_HEADER_BYTES = 30;
const MAX_DIRECTORY_BYTES = 8 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 1024 * 1024 * 1024;
const ENCRYPTED = 0x2041; // bits for: this file is encrypted; strongly; the directory itself is
const SYMLINK = 0o12;

/**
 * Lists the files of a zip. Every program that unpacks it later must see just these files, so what programs read in different ways is
 * refused with a 400: encryption, zip64, several disks, bytes behind the directory, files that share bytes, names that lead out of the
 * folder or stand twice, symbolic links; and more than 1 GiB unpacked. Reads at most 8 MiB.
 */
export async function readZipDirectory(source: ZipSource): Promise<ZipEntry[]> {
  const end = await findEnd(source);
  const directory = Buffer.from(await source.read(end.directoryOffset, end.directoryBytes));
  const entries: ZipEntry[] = [];
  let at = 0;
  while (at < directory.length) {
    const { entry, next } = readHeader(directory, at);
    entries.push(entry);
    at = next;
  }
  if (entries.length !== end.entries) refuseZip(`states ${end.entries} files and holds ${entries.length}`);
  requireUniqueNames(entries);
  requireOwnBytes(entries, end.directoryOffset);
  const unpackedBytes = entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  if (unpackedBytes > MAX_UNPACKED_BYTES) refuseZip(`unpacks to ${unpackedBytes} bytes; ${MAX_UNPACKED_BYTES} may be`);
  return entries;
}

/** Returns where the bytes of a file begin, after checking that its own header agrees with the directory. */
export async function locateContent(source: ZipSource, entry: ZipEntry): Promise<number> {
  const nameBytes = entry.name.length; // Latin-1 has one byte per character
  const header = Buffer.from(await source.read(entry.offset, LOCAL_HEADER_BYTES + nameBytes));
  const isSame =
    header.readUInt32LE(0) === 0x04034b50 &&
    (header.readUInt16LE(6) & ENCRYPTED) === 0 &&
    header.readUInt16LE(8) === entry.method &&
    header.readUInt16LE(26) === nameBytes &&
    header.toString("latin1", LOCAL_HEADER_BYTES) === entry.name;
  if (!isSame) refuseZip(`says one thing of ${entry.name} in the file's header and another in its directory`);
  const start = entry.offset + LOCAL_HEADER_BYTES + nameBytes + header.readUInt16LE(28);
  if (start + entry.compressedBytes > source.sizeBytes) refuseZip(`ends before ${entry.name}`);
  return start;
}

export function refuseZip(what: string): never {
  invalid("package", `is a zip that ${what}`);
}

interface End {
  readonly entries: number;
  readonly directoryOffset: number;
  readonly directoryBytes: number;
}

async function findEnd(source: ZipSource): Promise<End> {
  const tailBytes = Math.min(source.sizeBytes, END_BYTES + MAX_COMMENT_BYTES);
  const tail = Buffer.from(await source.read(source.sizeBytes - tailBytes, tailBytes));
  const at = positionOfEnd(tail);
  const [disk, startDisk, entriesHere, entries] = [4, 6, 8, 10].map((field) => tail.readUInt16LE(at + field));
  const directoryBytes = tail.readUInt32LE(at + 12);
  const directoryOffset = tail.readUInt32LE(at + 16);
  if (disk !== 0 || startDisk !== 0 || entriesHere !== entries) refuseZip("is one of several, or zip64");
  if (directoryBytes > MAX_DIRECTORY_BYTES)
    refuseZip(`has a directory above ${MAX_DIRECTORY_BYTES} bytes, or is zip64`);
  if (directoryOffset + directoryBytes !== source.sizeBytes - tailBytes + at)
    refuseZip("has bytes before or behind its directory, or is zip64");
  return { entries: entries!, directoryOffset, directoryBytes };
}

/** Finds the end record whose comment reaches just to the end of the file. */
function positionOfEnd(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at--)
    if (tail.readUInt32LE(at) === 0x06054b50 && at + END_BYTES + tail.readUInt16LE(at + 20) === tail.length) return at;
  return invalid("package", "is no zip");
}

function readHeader(directory: Buffer, at: number): { entry: ZipEntry; next: number } {
  if (at + HEADER_BYTES > directory.length || directory.readUInt32LE(at) !== 0x02014b50)
    refuseZip("has a broken directory");
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field));
  const nameEnd = at + HEADER_BYTES + nameBytes!;
  const next = nameEnd + extraBytes! + commentBytes!;
  if (next > directory.length) refuseZip("has a broken directory");
  const entry = {
    name: directory.toString("latin1", at + HEADER_BYTES, nameEnd),
    method: directory.readUInt16LE(at + 10),
    crc32: directory.readUInt32LE(at + 16),
    compressedBytes: directory.readUInt32LE(at + 20),
    sizeBytes: directory.readUInt32LE(at + 24),
    offset: directory.readUInt32LE(at + 42),
  };
  const isEncrypted = (directory.readUInt16LE(at + 8) & ENCRYPTED) !== 0;
  if (isEncrypted) refuseZip(`holds the encrypted file ${entry.name}`);
  if (directory.readUInt32LE(at + 38) >>> 28 === SYMLINK) refuseZip(`holds the symbolic link ${entry.name}`);
  requireInnerName(entry.name);
  return { entry, next };
}

/** The name must be a relative path with `/` that stays below the folder it is unpacked into. */
function requireInnerName(name: string): void {
  const isInner =
    /^[^/\\:\0]/.test(name) &&
    !/[\\\0]|^[A-Za-z]:/.test(name) &&
    name
      .split("/")
      .every((step, index, steps) => step !== ".." && step !== "." && (step !== "" || index === steps.length - 1));
  if (!isInner) refuseZip(`holds a file with the name ${JSON.stringify(name)}`);
}

/** Names are compared without upper and lower case, because some file systems do so. */
function requireUniqueNames(entries: readonly ZipEntry[]): void {
  const names = new Set<string>();
  for (const { name } of entries) {
    const folded = name.toLowerCase();
    if (names.has(folded)) refuseZip(`holds ${name} twice`);
    names.add(folded);
  }
}

/** Files must stand one behind the other, before the directory: a small zip whose files share bytes can unpack to petabytes. */
function requireOwnBytes(entries: readonly ZipEntry[], directoryOffset: number): void {
  const ordered = entries.toSorted((a, b) => a.offset - b.offset);
  for (const [index, entry] of ordered.entries()) {
    const end = entry.offset + LOCAL_HEADER_BYTES + entry.name.length + entry.compressedBytes;
    if (end > (ordered[index + 1]?.offset ?? directoryOffset)) refuseZip(`has no bytes of its own for ${entry.name}`);
  }
}
