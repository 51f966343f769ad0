import { createHash } from "node:crypto";
import { chown, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { ServerUser } from "../../db/embedded/launcher.ts";
import { writeHashed } from "../../store/blobs/durable-file.ts";
import { DamagedBackupError } from "./backup-errors.ts";
import { readTar, type TarEntry } from "./tar.ts";

/** The parts of Postgres's manifest that are read here. Its last line has the SHA-256 of all lines before it. */
const Manifest = z.object({
  "PostgreSQL-Backup-Manifest-Version": z.number(),
  Files: z.array(
    z.object({
      Path: z.string().optional(),
      "Encoded-Path": z.string().optional(),
      Size: z.number(),
      Checksum: z.string().optional(),
    }),
  ),
  "Manifest-Checksum": z.string(),
});
const LAST_LINE = '"Manifest-Checksum"';
/** The manifest names neither itself nor the log, whose records have checksums of their own. */
const LOG = "pg_wal/";

interface FileFacts {
  readonly sizeBytes: number;
  readonly sha256: string;
}

export interface PackedDatabase {
  readonly archive: AsyncIterable<Uint8Array>;
  readonly manifest: Buffer;
}

interface Place {
  readonly dir: string;
  /** The owner of the files; undefined: the user of this process. */
  readonly user: ServerUser | undefined;
  /** False only if the files may be lost. */
  readonly isDurable: boolean;
}

/**
 * Writes the files of a copy of the database into an empty folder and compares each with Postgres's manifest. Throws a {@link
 * DamagedBackupError} for a file that is missing, additional or different.
 */
export async function unpackDatabase(copy: PackedDatabase, place: Place): Promise<void> {
  const { dir, user } = place;
  await makeDirectory(dir, user);
  await compareFiles(copy, {
    makeDirectory: ({ name }) => makeDirectory(join(dir, name), user),
    takeFile: (entry) => writeFileOf(join(dir, entry.name), entry, place),
  });
}

/** Compares the files of a copy with Postgres's manifest, as {@link unpackDatabase} does, and writes nothing. */
export async function compareDatabase(copy: PackedDatabase): Promise<void> {
  await compareFiles(copy, { makeDirectory: async () => {}, takeFile: ({ body }) => hashFile(body) });
}

interface Taking {
  makeDirectory(entry: TarEntry): Promise<void>;
  /** Reads the whole file. */
  takeFile(entry: TarEntry): Promise<FileFacts>;
}

async function compareFiles({ archive, manifest }: PackedDatabase, taking: Taking): Promise<void> {
  const missing = readManifest(manifest);
  for await (const entry of readTar(archive)) {
    if (entry.kind === "directory") await taking.makeDirectory(entry);
    else compare(entry, await taking.takeFile(entry), missing);
  }
  const [first] = missing.keys();
  if (first !== undefined)
    throw new DamagedBackupError(`the copy of the database lacks ${missing.size} files, such as ${first}`);
}

async function hashFile(body: AsyncIterable<Uint8Array>): Promise<FileFacts> {
  const hash = createHash("sha256");
  let sizeBytes = 0;
  for await (const piece of body) {
    hash.update(piece);
    sizeBytes += piece.byteLength;
  }
  return { sizeBytes, sha256: hash.digest("hex") };
}

function readManifest(bytes: Buffer): Map<string, FileFacts> {
  const parsed = Manifest.safeParse(parseJson(bytes));
  const covered = bytes.subarray(0, bytes.lastIndexOf(LAST_LINE));
  const sha256 = createHash("sha256").update(covered).digest("hex");
  if (!parsed.success || parsed.data["Manifest-Checksum"] !== sha256)
    throw new DamagedBackupError("the manifest of the database is damaged");
  return new Map(
    parsed.data.Files.map((file) => [
      file.Path ?? Buffer.from(file["Encoded-Path"]!, "hex").toString(),
      { sizeBytes: file.Size, sha256: file.Checksum ?? "" },
    ]),
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** Compares a file with the manifest, and removes it from the missing ones. */
function compare({ name }: TarEntry, written: FileFacts, missing: Map<string, FileFacts>): void {
  const wanted = missing.get(name);
  missing.delete(name);
  if (!wanted && name.startsWith(LOG)) return;
  if (!wanted) throw new DamagedBackupError(`the copy of the database has a file that Postgres did not name: ${name}`);
  if (wanted.sizeBytes !== written.sizeBytes || wanted.sha256 !== written.sha256)
    throw new DamagedBackupError(`${name} of the database is not what Postgres sent`);
}

async function makeDirectory(path: string, user: ServerUser | undefined): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  if (user) await chown(path, user.uid, user.gid);
}

async function writeFileOf(path: string, { body }: TarEntry, { user, isDurable }: Place): Promise<FileFacts> {
  await makeDirectory(dirname(path), user);
  await using file = await open(path, "wx", 0o600);
  const written = await writeHashed(file, body);
  if (isDurable) await file.sync();
  if (user) await file.chown(user.uid, user.gid);
  return written;
}
