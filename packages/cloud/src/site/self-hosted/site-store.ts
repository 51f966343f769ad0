import { randomBytes } from "node:crypto";
import { siteLimits } from "@downlink/protocol";
import { z } from "zod";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { NoteExistsError } from "../../store/blobs/notes.ts";

type Notes = Pick<BlobStore, "putNote" | "getNote" | "listNotes" | "removeNote">;

const Mark = z.object({ id: z.string() });
const Owner = z.object({ siteId: z.string() });

/** The identity of a store: its random name, and how often a process began on it. */
export interface StoreMark {
  readonly id: string;
  readonly starts: number;
  /** A random text of each of the newest starts, this one's the last: another copy of the store does not have them all. */
  readonly marks: readonly string[];
}

/** Names the store at its first use, and counts this start durably. */
export async function markStart(store: Notes): Promise<StoreMark> {
  const { id } = Mark.parse(await writeOnce(store, "site/store", { id: randomBytes(16).toString("hex") }));
  const former: number[] = [];
  for await (const { key } of store.listNotes("starts/")) former.push(Number(key.split("/")[1]));
  former.sort((one, other) => one - other);
  const starts = (former.at(-1) ?? 0) + 1;
  await store.putNote(`starts/${starts}`, Buffer.from(`${randomBytes(8).toString("hex")}\n`));
  const kept = [...former, starts].slice(-siteLimits.marks);
  for (const number of former) if (!kept.includes(number)) await store.removeNote(`starts/${number}`);
  const notes = await Promise.all(kept.map((number) => store.getNote(`starts/${number}`)));
  return { id, starts, marks: notes.map((note) => Buffer.from(note!).toString().trim()) };
}

/** Throws unless the store is this site's: its first site is its only one. */
export async function requireOwner(store: Notes, siteId: string): Promise<void> {
  const owner = Owner.parse(await writeOnce(store, "site/owner", { siteId }));
  if (owner.siteId !== siteId)
    throw new WrongSiteError(
      `the objects folder is of ${owner.siteId}, and the token is of ${siteId}: use another folder`,
    );
}

/** The store is another site's. */
export class WrongSiteError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "WrongSiteError";
  }
}

/** Returns what the note says: what is given now, or what was there before. */
async function writeOnce(store: Notes, key: string, value: object): Promise<unknown> {
  try {
    await store.putNote(key, Buffer.from(JSON.stringify(value)));
  } catch (error) {
    if (!(error instanceof NoteExistsError)) throw error;
  }
  return JSON.parse(Buffer.from((await store.getNote(key))!).toString());
}
