import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { sep } from "node:path";
import { withTransaction } from "../../db/transaction.ts";
import { NOTE_KINDS } from "../../keeping/backup/copy-notes.ts";
import { MOVES } from "../../keeping/stores/store-move.ts";
import { MarkNotes, nameDeployment } from "../../recovery/marks.ts";
import { nameStore, type StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { CopyError } from "./copy-errors.ts";
import { findOthers } from "./processes.ts";

/** Records the move. Throws a {@link CopyError} for a target that cannot be one. */
export async function beginMove(
  deps: Pick<CopyDeps, "db" | "target" | "self">,
  { source, target }: { source: StoreAddress; target: StoreAddress },
): Promise<void> {
  await requireApart(source, target);
  const others = await findOthers(deps.db, source, deps.self);
  if (others.length > 0) throw new CopyError(`${others.join("; ")}; all must use ${nameStore(source)} first`);
  await requireEmpty(deps, target);
  await withTransaction(deps.db, async (tx) => {
    await tx.$executeRaw`TRUNCATE "MovedObject"`;
    await tx.storeMove.create({ data: { name: randomUUID(), state: "copying", source, target } });
  });
}

export async function requireApart(source: StoreAddress, target: StoreAddress): Promise<void> {
  if (nameStore(source) === nameStore(target)) throw new CopyError(`the objects are in ${nameStore(target)} already`);
  if (source.kind !== "file" || target.kind !== "file") return;
  const [from, to] = await Promise.all([pathOf(source.directory), pathOf(target.directory)]);
  if (from === to || `${to}${sep}`.startsWith(`${from}${sep}`) || `${from}${sep}`.startsWith(`${to}${sep}`))
    throw new CopyError(`${nameStore(target)} lies in the store that it is to replace, or around it`);
}

/** A folder that is not there yet has no other name. */
async function pathOf(directory: string): Promise<string> {
  return await realpath(directory).catch(() => directory);
}

async function requireEmpty({ db, target }: Pick<CopyDeps, "db" | "target">, address: StoreAddress): Promise<void> {
  const refuse = (what: string) => {
    throw new CopyError(`${nameStore(address)} holds ${what}: the objects move to an empty store only`);
  };
  const [mark] = await new MarkNotes(target).list();
  if (mark) {
    const { signingKey } = await db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
    refuse(`marks of ${mark.deployment === nameDeployment(signingKey) ? "this deployment" : "another deployment"}`);
  }
  for await (const { key } of target.list("")) refuse(`an object, ${key}`);
  for (const prefix of [...NOTE_KINDS.map((kind) => `${kind}/`), MOVES])
    for await (const { key } of target.listNotes(prefix)) refuse(`a note, ${key}`);
}
