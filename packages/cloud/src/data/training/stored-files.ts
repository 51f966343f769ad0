import { once } from "node:events";
import { PassThrough } from "node:stream";
import type { FileSink } from "@downlink/training";
import type { Deps } from "../../calls/context/context.ts";
import { limitToRoom } from "../../calls/quotas/require-room.ts";
import { newId } from "../../db/ids.ts";

/** A file of a set in the object store. */
export interface StoredFile {
  readonly path: string;
  readonly blobKey: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

interface Opening {
  readonly path: string;
  readonly blobKey: string;
  readonly pipe: PassThrough;
  readonly stored: Promise<{ sizeBytes: number; sha256: string }>;
}

type StoreDeps = Pick<Deps, "db" | "blobs">;

/** Writes the files of a set as objects of their own. Until they are in rows nothing but this, or the sweep, removes them. */
export class StoredFiles {
  readonly #deps: StoreDeps;
  readonly #orgId: string;
  readonly #signal: AbortSignal;
  readonly #opened: Opening[] = [];
  readonly #files: StoredFile[] = [];
  #bytes = 0;

  constructor(deps: StoreDeps, { orgId, signal }: { readonly orgId: string; readonly signal: AbortSignal }) {
    this.#deps = deps;
    this.#orgId = orgId;
    this.#signal = signal;
  }

  /** The bytes that were written so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The files that are whole. */
  get files(): readonly StoredFile[] {
    return this.#files;
  }

  readonly open = (path: string): FileSink => {
    const opening = this.#begin(path);
    const { pipe, stored, blobKey } = opening;
    return {
      write: async (bytes) => {
        if (pipe.errored) throw pipe.errored;
        this.#bytes += bytes.byteLength;
        if (!pipe.write(bytes)) await once(pipe, "drain");
      },
      close: async () => {
        pipe.end();
        this.#files.push({ path, blobKey, ...(await stored) });
      },
    };
  };

  #begin(path: string): Opening {
    const { db, blobs } = this.#deps;
    const pipe = new PassThrough({ highWaterMark: 1024 * 1024 });
    pipe.on("error", () => undefined); // those who write hear of it
    const blobKey = `${this.#orgId}/${newId("tf")}`;
    const body = limitToRoom(pipe, { db: db.prisma, orgId: this.#orgId });
    const stored = blobs.put(blobKey, body, { signal: this.#signal });
    stored.catch((error: Error) => pipe.destroy(error));
    const opening = { path, blobKey, pipe, stored };
    this.#opened.push(opening);
    return opening;
  }

  /** Removes everything that was written. */
  async remove(): Promise<void> {
    for (const { pipe } of this.#opened) pipe.destroy(new Error("the set is given up"));
    await Promise.allSettled(this.#opened.map(({ stored }) => stored));
    for (const { blobKey } of this.#opened) await this.#deps.blobs.delete(blobKey);
  }
}
