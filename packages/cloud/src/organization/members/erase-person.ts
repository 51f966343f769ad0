// Rows keep whose doing something was after the person has left. Erasing puts a mark in the place of the e-mail address wherever it stands. The
// mark is the same each time for the same address, so that entries of one person still belong together, and only who has the deployment's
// signing key can find out whether it is that of an address.

import { createHmac } from "node:crypto";
import { commandLine, writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Clock } from "../../core/clock.ts";
import { CommandError } from "../../core/command-error.ts";
import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";

const MARK_DIGITS = 12;
/** It reads every entry of the audit log. */
const LONGEST_MS = 600_000;

export interface Erased {
  readonly mark: string;
  /** How many rows had the address, by kind. */
  readonly counts: Readonly<Record<"accounts" | "invitations" | "entries" | "tokens" | "events" | "viewLinks", number>>;
}

/** Replaces a person's e-mail address everywhere. Throws a {@link CommandError} while the person is a member of an organization. */
export function erasePerson(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  email: string,
): Promise<Erased> {
  const erase = async (tx: Transaction): Promise<Erased> => {
    await requireNoMember(tx, email);
    const { signingKey } = await tx.deployment.findUniqueOrThrow({ where: { id: 1 } });
    const mark = `erased-${createHmac("sha256", signingKey).update(email).digest("hex").slice(0, MARK_DIGITS)}`;
    const { count: accounts } = await tx.account.deleteMany({ where: { email } });
    const { count: invitations } = await tx.invitation.deleteMany({ where: { email } });
    const counts = { accounts, invitations, ...(await replace(tx, email, mark)) };
    const change = { orgId: null, operation: "members erase", resourceKind: "member", resourceId: mark } as const;
    await writeEntry(tx, commandLine, { ...change, nowNs: clock.nowNs(), before: counts });
    return { mark, counts };
  };
  return withTransaction(db, erase, { timeoutMs: LONGEST_MS });
}

async function requireNoMember(tx: Transaction, email: string): Promise<void> {
  const members = await tx.member.findMany({ where: { account: { email } }, include: { org: true } });
  if (members.length === 0) return;
  const where = members
    .map(({ id, org }) => `${org.name} (downlink admin members ${org.id} --remove ${id})`)
    .join(", ");
  throw new CommandError(`${email} is a member of ${where}: remove the member first`);
}

async function replace(tx: Transaction, email: string, mark: string) {
  // The address alone, not as a part of a longer one.
  const whole = `(?<![[:alnum:]._%+-])${email.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![[:alnum:]._-])`;
  const replaced = (column: Prisma.Sql) => Prisma.sql`regexp_replace(${column}::text, ${whole}, ${mark}, 'gi')`;
  const found = (column: Prisma.Sql) => Prisma.sql`${column}::text ~* ${whole}`;
  const [actor, before, after] = [Prisma.sql`"actorName"`, Prisma.sql`before`, Prisma.sql`after`];
  const [createdBy, maker] = [Prisma.sql`"createdBy"`, Prisma.sql`"makerName"`];
  return {
    entries: await tx.$executeRaw`
      UPDATE "AuditEntry" SET "actorName" = ${replaced(actor)}, before = ${replaced(before)}::jsonb, after = ${replaced(after)}::jsonb
      WHERE ${found(actor)} OR ${found(before)} OR ${found(after)}`,
    tokens: await tx.$executeRaw`
      UPDATE "Credential" SET "createdBy" = ${replaced(createdBy)}::jsonb WHERE ${found(createdBy)}`,
    events:
      await tx.$executeRaw`UPDATE "Event" SET "createdBy" = ${replaced(createdBy)}::jsonb WHERE ${found(createdBy)}`,
    viewLinks: await tx.$executeRaw`UPDATE "ViewLink" SET "makerName" = ${replaced(maker)} WHERE ${found(maker)}`,
  };
}
