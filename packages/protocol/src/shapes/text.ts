import { z } from "zod";

/** Text that a database can hold and every client can read back: no NUL, no half of a surrogate pair. */
export const StorableText = z.string().refine(isStorable, "must hold no NUL and no half of a surrogate pair");

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

const MAX_KEY_BYTES = 2048; // of an index entry

/** A key that people give, unique within a project: what an index can hold. */
export const UniqueKey = StorableText.min(1)
  .max(1024)
  .refine(
    (key) => new TextEncoder().encode(key).length <= MAX_KEY_BYTES,
    `must be at most ${MAX_KEY_BYTES} bytes long`,
  );
