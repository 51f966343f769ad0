// The compiler reads this file, and nothing runs it: each line below `@ts-expect-error` must not compile.
import type { Prisma } from "./generated/client.ts";
import type { RecordingModel } from "./generated/models.ts";
import type { DB } from "./generated/tables.ts";

export const byModel: RecordingModel["importStatus"] = "none";

// @ts-expect-error No column holds a state that the schema does not have, for a program that reads it,
export const read: RecordingModel["importStatus"] = "lost";
// @ts-expect-error by whichever client,
export const byKysely: DB["Recording"]["importStatus"] = "lost";
// @ts-expect-error or writes it,
export const written: Prisma.RecordingUncheckedUpdateInput = { importStatus: "lost" };
// @ts-expect-error or looks for it.
export const wanted: Prisma.RecordingWhereInput = { importStatus: { in: ["none", "lost"] } };

// @ts-expect-error A table of transitions has every state.
export const table: Record<RecordingModel["importStatus"], string> = { none: "pending" };
