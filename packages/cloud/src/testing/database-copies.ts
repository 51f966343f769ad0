import { randomBytes } from "node:crypto";
import type { Database } from "../db/client.ts";
import { withTransaction } from "../db/transaction.ts";

/** The tables that describe the deployment itself are left as they are: other tests check whether it was set back. */
const LEFT = ["Deployment", "DeploymentMark", "Adoption", "FoundUpload", "MissingObject"];

/** Copies all rows. Calling the result puts the database back to this moment, as a backup would; jobs are lost. */
export async function copyDatabase(db: Pick<Database, "prisma">): Promise<() => Promise<void>> {
  const schema = `copy_${randomBytes(8).toString("hex")}`;
  const tables = await db.prisma.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> ALL(${LEFT}) AND tablename !~ '^_'`;
  const names = tables.map(({ name }) => `"${name}"`);
  await db.prisma.$executeRawUnsafe(`CREATE SCHEMA ${schema}`);
  for (const name of names) await db.prisma.$executeRawUnsafe(`CREATE TABLE ${schema}.${name} AS TABLE public.${name}`);
  return () =>
    withTransaction(db, async (tx) => {
      await tx.$executeRawUnsafe("SET LOCAL session_replication_role = replica"); // the order of tables does not matter
      await tx.$executeRawUnsafe(`TRUNCATE ${names.map((name) => `public.${name}`).join(", ")} CASCADE`);
      for (const name of names)
        await tx.$executeRawUnsafe(`INSERT INTO public.${name} SELECT * FROM ${schema}.${name}`);
      await tx.$executeRawUnsafe("DELETE FROM pgboss.job WHERE state < 'completed'");
    });
}
