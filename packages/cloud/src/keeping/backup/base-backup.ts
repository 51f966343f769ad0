// The database is copied by the replication protocol's BASE_BACKUP, as pg_basebackup does: Postgres sends its files as
// one tar archive while it goes on, with the part of its log that makes them consistent, and then a manifest with the
// SHA-256 of each. A temporary replication slot keeps that part of the log until it was sent. The label is written
// into the copy alone. https://www.postgresql.org/docs/18/protocol-replication.html

import { Readable } from "node:stream";
import pg from "pg";

/** Older servers answer in another form than this code reads. */
const OLDEST_SERVER = 150_000;
/** The first byte of a message: an archive begins, the manifest begins, or bytes of one of them follow. */
const [ARCHIVE, MANIFEST, DATA] = [0x6e, 0x6d, 0x64];
const SLOT = "downlink_backup";

interface BaseBackup {
  /** The URL of the live database. */
  readonly url: string;
  readonly label: string;
  /** Called with Postgres's manifest after the last byte. */
  readonly onManifest: (manifest: Buffer) => void;
}

/** Yields the copy as a tar archive. Throws if the server refuses or the connection breaks. */
export async function* readBaseBackup({ url, label, onManifest }: BaseBackup): AsyncGenerator<Uint8Array, void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "downlink-backup",
    keepAlive: true,
    ...replicating,
  });
  client.on("error", () => {}); // a lost connection fails the code that reads from it
  await client.connect();
  try {
    await requireServer(client);
    await client.query(`CREATE_REPLICATION_SLOT ${SLOT}_${process.pid} TEMPORARY PHYSICAL (RESERVE_WAL true)`);
    const options = `LABEL '${label}', CHECKPOINT 'fast', WAL true, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256'`;
    const manifest: Buffer[] = [];
    let isArchive = true;
    for await (const message of client.query(new CopyOut(`BASE_BACKUP (${options})`)).messages) {
      if (message[0] === ARCHIVE) requireWhole(message);
      if (message[0] === MANIFEST) isArchive = false;
      if (message[0] !== DATA) continue;
      if (isArchive) yield message.subarray(1);
      else manifest.push(message.subarray(1));
    }
    onManifest(Buffer.concat(manifest));
  } finally {
    await client.end();
  }
}

/** node-postgres passes this option on, but its types do not know it. */
const replicating = { replication: "true" } as object;

async function requireServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query("SHOW server_version_num");
  if (Number(rows[0].server_version_num) < OLDEST_SERVER)
    throw new Error("a database of Postgres 14 or older is not copied here; copy it with pg_basebackup or pg_dump");
}

/** An embedded Postgres is one archive. Tablespaces would be further archives, and are refused. */
function requireWhole(message: Buffer): void {
  const name = message.subarray(1, message.indexOf(0, 1)).toString();
  if (name !== "base.tar")
    throw new Error(`the database has a tablespace elsewhere (${name}), which is not copied here`);
}

interface Connection {
  query(text: string): void;
  readonly stream: { pause(): void; resume(): void };
}

/** Runs a statement whose answer is a COPY. The connection is read only as fast as its messages are used. */
class CopyOut implements pg.Submittable {
  readonly messages: Readable & AsyncIterable<Buffer>;
  readonly #text: string;
  #connection: Connection | undefined;

  constructor(text: string) {
    this.#text = text;
    this.messages = new Readable({
      objectMode: true,
      highWaterMark: 64,
      read: () => this.#connection?.stream.resume(),
    });
  }

  submit(connection: unknown): void {
    this.#connection = connection as Connection;
    this.#connection.query(this.#text);
  }

  /** Copies the message, because the connection uses its memory again. */
  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (!this.messages.push(Buffer.from(chunk))) this.#connection!.stream.pause();
  }

  handleError(error: Error): void {
    this.#connection!.stream.resume();
    this.messages.destroy(error);
  }

  handleReadyForQuery(): void {
    this.messages.push(null);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}
