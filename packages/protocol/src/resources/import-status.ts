import { z } from "zod";

export const importStatuses = ["none", "pending", "importing", "failed", "complete"] as const;
/**
 * `none`: known at the edge, import not requested · `pending`: requested, not delivered yet · `importing`: the bytes are here and
 * being processed · `complete`: streamable · `failed`: could not be imported; a new request moves it to `pending`.
 */
export const ImportStatus = z.enum(importStatuses);
export type ImportStatus = z.infer<typeof ImportStatus>;
