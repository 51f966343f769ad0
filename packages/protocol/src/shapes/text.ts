import { z } from "zod";

/** Text that a database can hold and every client can read back: no NUL, no half of a surrogate pair. */
export const StorableText = z
  .string()
  .refine((text) => text.isWellFormed() && !text.includes("\0"), "must hold no NUL and no half of a surrogate pair");
