import type { Command } from "commander";
import type { Database } from "../../db/client.ts";
import { toEntry } from "./audit.ts";

interface Deployment {
  /** Opens the database, even beside a running control plane. */
  beside(use: (deps: { readonly db: Database }) => Promise<void>): Promise<void>;
}

const MOST = 100;

export function addAuditCommand(admin: Command, deployment: Deployment): void {
  admin
    .command("audit")
    .description(
      `print the last ${MOST} administrative changes of all organizations and of the deployment, newest last`,
    )
    .option("--json", "print each entry as a line of JSON", false)
    .addHelpText("after", "\nExamples:\n  downlink admin audit\n  downlink admin audit --json | grep apiKeys")
    .action(({ json }: { readonly json: boolean }) =>
      deployment.beside(async ({ db }) => {
        for (const line of await describeEntries(db, json)) process.stdout.write(`${line}\n`);
      }),
    );
}

/** Returns a line for each of the last entries, the oldest first. */
export async function describeEntries({ prisma }: Pick<Database, "prisma">, isJson: boolean): Promise<string[]> {
  const rows = await prisma.auditEntry.findMany({ orderBy: [{ atNs: "desc" }, { id: "desc" }], take: MOST });
  return rows.reverse().map((row) => {
    const { at, ...entry } = toEntry(row);
    const time = new Date(Number(at / 1_000_000n)).toISOString();
    if (isJson) return JSON.stringify({ ...entry, at: time, orgId: row.orgId ?? undefined });
    const { actor, operation, resourceKind, resourceId } = entry;
    const who = [actor.kind, actor.name ?? actor.id].filter(Boolean).join(" ");
    return `${time}  ${row.orgId ?? "deployment"}  ${who}: ${operation} ${resourceKind} ${resourceId}`;
  });
}
