import { createHash, randomBytes } from "node:crypto";
import type { NoteStore } from "../store/blobs/notes.ts";

/** A note in the object store which proves that this deployment used the store at some time. It is never changed. */
export interface Mark {
  /** The name is `<sequence>-<random>`, so that names sort like their sequences. */
  readonly name: string;
  readonly sequence: bigint;
  readonly deployment: string;
  readonly incarnation: string;
  /** The incarnations before this one. */
  readonly ancestors: readonly string[];
  /** The system identifier of its Postgres. */
  readonly systemIdentifier: string;
  /** The timeline and start time of its Postgres, and the path of a table. */
  readonly postgres: string;
}

type Content = Pick<Mark, "deployment" | "incarnation" | "ancestors" | "systemIdentifier" | "postgres">;

const KIND = "marks/";
const NAME = /^(\d{16})-[0-9a-f]{16}$/;
const NEWEST = 100;

/** Names a deployment, so that two that share a store by mistake can be distinguished. A restored backup gives the same name. */
export function nameDeployment(signingKey: string): string {
  return createHash("sha256").update(`downlink deployment ${signingKey}`).digest("base64url").slice(0, 22);
}

export function newMarkName(sequence: bigint): string {
  return `${sequence.toString().padStart(16, "0")}-${randomBytes(8).toString("hex")}`;
}

/** The marks of a store. Their content is read once, because it never changes; whether they exist is asked each time. */
export class MarkNotes {
  readonly #notes: NoteStore;
  #read = new Map<string, Mark>();
  #old: readonly string[] = [];

  constructor(notes: NoteStore) {
    this.#notes = notes;
  }

  /** Returns the newest hundred marks, the newest first. Older ones are ignored. */
  async list(): Promise<Mark[]> {
    const keys = await Array.fromAsync(this.#notes.listNotes(KIND), ({ key }) => key.slice(KIND.length));
    const names = keys
      .filter((name) => NAME.test(name))
      .sort()
      .reverse();
    const read = await Promise.all(names.slice(0, NEWEST).map((name) => this.#read.get(name) ?? this.#readMark(name)));
    const marks = read.filter((mark) => mark !== undefined);
    this.#read = new Map(marks.map((mark) => [mark.name, mark]));
    this.#old = names.slice(NEWEST);
    return marks;
  }

  async write(
    name: string,
    { deployment, incarnation, ancestors, systemIdentifier, postgres }: Content,
  ): Promise<void> {
    const text = JSON.stringify({ deployment, incarnation, ancestors, systemIdentifier, postgres });
    await this.#notes.putNote(`${KIND}${name}`, Buffer.from(text));
  }

  /** Removes the marks that were older than the newest hundred at the last listing. */
  async trim(): Promise<void> {
    for (const name of this.#old) await this.#notes.removeNote(`${KIND}${name}`);
    this.#old = [];
  }

  /** Returns undefined if another process removed the mark meanwhile. */
  async #readMark(name: string): Promise<Mark | undefined> {
    const bytes = await this.#notes.getNote(`${KIND}${name}`);
    if (!bytes) return undefined;
    return { ...(JSON.parse(Buffer.from(bytes).toString()) as Content), name, sequence: BigInt(NAME.exec(name)![1]!) };
  }
}

/** Returns whether any deployment ever used the store. */
export async function hasMarks(notes: Pick<NoteStore, "listNotes">): Promise<boolean> {
  for await (const _ of notes.listNotes(KIND)) return true;
  return false;
}
