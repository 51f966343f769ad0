// The compiler reads this file, and nothing runs it: each line below `@ts-expect-error` must not compile.
import type { Database } from "./client.ts";
import { type Parameters, prepare } from "./prepared.ts";

declare const db: Database;

interface Values {
  readonly id: string;
  readonly nowNs: bigint;
}

const select = prepare((kysely, { id, nowNs }: Parameters<Values>) =>
  kysely.selectFrom("ViewLink").select("orgId").where("id", "=", id).where("expiresAtNs", ">", nowNs),
);
export const good = select(db, { id: "a", nowNs: 1n });

// @ts-expect-error A value is given by its name and not by its place,
export const byPlace = select(db, ["a", 1n]);
// @ts-expect-error none is missing,
export const missing = select(db, { id: "a" });
// @ts-expect-error none stands in the place of another,
export const swapped = select(db, { id: 1n, nowNs: "a" });
export const compared = prepare((kysely, { nowNs }: Parameters<Values>) =>
  // @ts-expect-error and none is compared with a column of another type.
  kysely.selectFrom("ViewLink").where("id", "=", nowNs),
);
