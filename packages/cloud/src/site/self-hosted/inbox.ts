// A file of the inbox is copied under a key of its own before it is read, and leaves the inbox once its import has ended. A note names its
// request before anything else happens: if a process is killed at any step, the next one finds the same request again, and the file is
// imported once. A file that is still being written is not taken: it has to be the same in two looks.

import { setTimeout as delay } from "node:timers/promises";
import { api, type Output, siteLimits } from "@downlink/protocol";
import { z } from "zod";
import { newId } from "../../db/ids.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { type InboxFile, type InboxPlace, isSameFile } from "./inbox-place.ts";
import { beginFile, dropFile, findReceived, keepFile } from "./received-files.ts";
import type { SiteDeps } from "./site-deps.ts";
import type { SiteSession } from "./site-session.ts";

const LOOK_MS = 5000;

const Entry = z.object({
  requestId: z.string(),
  path: z.string(),
  sizeBytes: z.int().min(0),
  modifiedAtMs: z.number(),
  inode: z.number().optional(),
  etag: z.string().optional(),
  versionId: z.string().optional(),
});
type Entry = z.infer<typeof Entry>;
type Answer = Output<typeof api.site.inbox>["files"][number];

interface InboxDeps extends Pick<SiteDeps, "log" | "stopping" | "memory"> {
  readonly blobs: BlobStore;
  readonly session: Pick<SiteSession, "call">;
  readonly place: InboxPlace;
  readonly onReceived: () => void;
}

/** Imports what lands in a folder or bucket, until the process is told to stop. */
export class Inbox {
  readonly #deps: InboxDeps;
  /** The files that the last look found. */
  #seen = new Map<string, InboxFile>();

  constructor(deps: InboxDeps) {
    this.#deps = deps;
  }

  async run(): Promise<void> {
    const { stopping, log } = this.#deps;
    while (!stopping.aborted) {
      try {
        if (this.#deps.memory.facts) await this.look();
      } catch (error) {
        if (!stopping.aborted) log.warn({ err: error }, "the inbox is looked through again");
      }
      await delay(LOOK_MS, undefined, { signal: stopping }).catch(() => {});
    }
  }

  /** Takes what is finished, and lets go of what was imported. */
  async look(): Promise<void> {
    const entries = await this.#readEntries();
    const found = await this.#deps.place.list(siteLimits.itemsPerList);
    const still = found.filter((file) => isSameFile(file, this.#seen.get(file.path)));
    this.#seen = new Map(found.map((file) => [file.path, file]));
    for (const file of still) {
      const known = entries.get(file.path);
      if (known && isSameFile(known, file)) continue;
      const exact = await this.#deps.place.confirm(file);
      if (exact) entries.set(file.path, await this.#note(exact, known));
    }
    for (const answer of await this.#ask([...entries.values()])) {
      const entry = [...entries.values()].find(({ requestId }) => requestId === answer.requestId)!;
      await this.#go(entry, answer).catch((error: unknown) => this.#postpone(entry, error));
    }
  }

  /** One file that cannot be read holds up no other one. */
  #postpone({ path }: Entry, error: unknown): void {
    const { stopping, log } = this.#deps;
    if (!stopping.aborted) log.warn({ err: error, path }, "a file of the inbox is taken later");
  }

  async #readEntries(): Promise<Map<string, Entry>> {
    const { blobs } = this.#deps;
    const entries = new Map<string, Entry>();
    for await (const { key } of blobs.listNotes("inbox/")) {
      const bytes = await blobs.getNote(key);
      const entry = bytes && Entry.parse(JSON.parse(Buffer.from(bytes).toString()));
      if (entry) entries.set(entry.path, entry);
    }
    return entries;
  }

  /** A file that changed before it was stored keeps its request; one that came after another was stored is another file. */
  async #note(file: InboxFile, known: Entry | undefined): Promise<Entry> {
    const { blobs } = this.#deps;
    const isStored = known && (await findReceived(blobs, known.requestId));
    const entry = { ...file, requestId: known && !isStored ? known.requestId : newId("req") };
    if (known) await blobs.removeNote(noteKey(known));
    await blobs.putNote(noteKey(entry), Buffer.from(JSON.stringify(entry)));
    return entry;
  }

  async #ask(entries: readonly Entry[]): Promise<Answer[]> {
    if (entries.length === 0) return [];
    const { blobs, session } = this.#deps;
    const asked = entries.slice(0, siteLimits.itemsPerList);
    const stored = await Promise.all(asked.map(({ requestId }) => findReceived(blobs, requestId)));
    const files = asked.map(({ requestId, path }, at) => ({ requestId, filename: path, isNew: !stored[at] }));
    return (await session.call(api.site.inbox, { files })).files;
  }

  async #go(entry: Entry, { state, request, reason }: Answer): Promise<void> {
    const { blobs, place, log } = this.#deps;
    const { requestId, path } = entry;
    if (state === "awaiting" && request !== undefined) return this.#store(entry, request);
    if (state === "complete") await place.remove(entry);
    else if (state === "error" || state === "cancelled")
      await place.quarantine(entry, reason ?? "the import was cancelled");
    else return;
    await blobs.removeNote(noteKey(entry));
    log.info({ requestId, path, state }, "a file has left the inbox");
  }

  async #store(entry: Entry, request: string): Promise<void> {
    const { blobs, place, stopping, memory, onReceived } = this.#deps;
    const { requestId, sizeBytes } = entry;
    if (await findReceived(blobs, requestId)) return; // it is reported soon
    if (!(await place.confirm(entry))) return blobs.removeNote(noteKey(entry));
    const key = await beginFile(blobs, { requestId, orgId: memory.facts!.orgId });
    try {
      await blobs.put(key, place.read(entry), { expectedBytes: sizeBytes, signal: stopping });
      if (!(await place.confirm(entry))) throw new Error(`${entry.path} changed while it was copied`);
      await keepFile(blobs, { requestId, key, sizeBytes, request });
    } catch (error) {
      if ((await findReceived(blobs, requestId))?.key !== key) await dropFile(blobs, key);
      throw error;
    }
    onReceived();
  }
}

function noteKey({ requestId }: Pick<Entry, "requestId">): string {
  return `inbox/${requestId}`;
}
