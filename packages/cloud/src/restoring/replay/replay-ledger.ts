// After a restore the ledger in the object store contains what was created, deleted and revoked since the backup. Entries are applied in the
// order of time, each in one transaction with its row. An entry whose row exists was applied before, so a replay continues where another one
// died.

import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { Deps } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { LEDGER } from "../../recovery/note-entries.ts";
import { applyEntry } from "./apply-entry.ts";
import { replayMove } from "./replay-move.ts";
import { unknownEntries } from "./unknown-entries.ts";

type ReplayDeps = Pick<Deps, "db" | "blobs" | "jobs" | "clock" | "log" | "credentials">;

/** Deletes and revokes again what was deleted and revoked since the backup, and restores what was created. It may be repeated. */
export async function replayLedger(deps: ReplayDeps, signal: AbortSignal): Promise<void> {
  await replayMove(deps);
  let replayed = 0;
  for await (const id of unknownEntries(deps)) {
    signal.throwIfAborted();
    await replay(deps, id);
    replayed += 1;
  }
  deps.credentials.forgetAll();
  deps.log.info({ replayed }, "replayed the ledger");
}

async function replay(deps: ReplayDeps, id: string): Promise<void> {
  const bytes = await deps.blobs.getNote(`${LEDGER}${id}`);
  if (!bytes) return; // the entry became too old meanwhile
  const text = Buffer.from(bytes).toString();
  await withTransaction(deps.db, async (tx) => {
    await tx.$executeRaw`SELECT set_config('downlink.replays', 'on', true)`;
    const [entry] = await tx.$queryRaw<{ kind: string; subject: string; data: object }[]>`
      INSERT INTO "LedgerEntry" (id, kind, subject, data, "isNoted")
      SELECT ${id}, e ->> 'kind', e ->> 'subject', e -> 'data', true FROM (SELECT ${text}::jsonb AS e) note
      ON CONFLICT DO NOTHING RETURNING kind, subject, data`;
    if (entry) await applyEntry({ ...contextOf(tx, deps), log: deps.log }, { id, ...entry });
  });
}
