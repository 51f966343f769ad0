import type { Database } from "../../../db/client.ts";

/** A database whose user dies right after the switch, before the next statement of the command. */
export function lateSwitch(db: Database) {
  const pool = new Proxy(db.pool, {
    get(of, name) {
      const value = Reflect.get(of, name);
      if (name !== "query") return typeof value === "function" ? value.bind(of) : value;
      return async (statement: { readonly text: string }, ...rest: unknown[]) => {
        if (statement.text.includes("pg_stat_activity") && (await db.prisma.storeMove.findFirst())?.state === "both")
          throw new Error("after the switch");
        return await (value as (...all: unknown[]) => unknown).call(of, statement, ...rest);
      };
    },
  });
  return { ...db, pool };
}
