import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { refuse } from "../core/errors.ts";
import type { LinkSigner } from "../core/signed-link.ts";

/** A place in a list, and the way to go from there. */
export interface Cursor {
  readonly direction: "forward" | "backward";
  /** The value that the list sorts by in the row at this place, as text; the id breaks ties. Null if the row has no such value. */
  readonly sortValue: string | null;
  readonly id: string;
}

/**
 * The query that a cursor is bound to: the operation, and everything that decides which rows its list has and in which order. It must be
 * JSON.
 */
export type CursorBinding = readonly unknown[];

type Keys = Pick<LinkSigner, "keys">;

/** A value of 500 characters, each of which JSON escapes twice, takes some 4700. */
const MAX_CHARACTERS = 8192;

/** Writes an opaque text that is valid only for the same binding. It reveals nothing that the row at its place does not show. */
export function writeCursor({ keys }: Keys, binding: CursorBinding, cursor: Cursor): string {
  const { id: keyId, key } = keys[0]!;
  const { direction, sortValue, id } = cursor;
  const place = Buffer.from(JSON.stringify([direction, sortValue, id])).toString("base64url");
  return `${keyId}.${place}.${sign(key, binding, place).toString("base64url")}`;
}

/** Throws `CursorRejected` unless this deployment wrote the text for the same binding. */
export function readCursor({ keys }: Keys, binding: CursorBinding, text: string): Cursor {
  const [, keyId, place, signature] = /^([\w-]{8})\.([\w-]+)\.([\w-]{43})$/.exec(text.slice(0, MAX_CHARACTERS)) ?? [];
  const signing = keys.find(({ id }) => id === keyId);
  const isOurs = signing && timingSafeEqual(sign(signing.key, binding, place!), Buffer.from(signature!, "base64url"));
  if (!isOurs) refuse("CursorRejected", "cursor: it does not belong to this query; ask again without one");
  const [direction, sortValue, id] = JSON.parse(Buffer.from(place!, "base64url").toString()) as [
    Cursor["direction"],
    string | null,
    string,
  ];
  return { direction, sortValue, id };
}

/**
 * The signed text has a form of its own, so that no signed link is taken for a cursor. It is JSON, so that no two bindings give the same
 * text.
 */
function sign(key: KeyObject, binding: CursorBinding, place: string): Buffer {
  return createHmac("sha256", key)
    .update(JSON.stringify(["cursor", binding, place], bigintText))
    .digest();
}

function bigintText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
