// The command brings the move from one state to the next (stores/move-state.ts), as far as it goes at this moment, and tells what comes
// next. It may be killed at any time and given again: what it knows is in the database, and a copy counts only after it was recorded.

import { withTransaction } from "../../db/transaction.ts";
import { findMove, moveNote, type StoreMove } from "../../keeping/stores/store-move.ts";
import { requireSafeToDestroy } from "../../recovery/held-deployment.ts";
import { forgetConfirmed } from "../../recovery/incarnations.ts";
import { type HeldRemovals, holdRemovals } from "../../recovery/removals-held.ts";
import { nameStore } from "../../store/bucket-uploads/store-address.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { CopyError } from "./copy-errors.ts";
import { type CopyExit, copyExits } from "./copy-exits.ts";
import { copyNotes } from "./copy-notes.ts";
import { type CopiedObjects, copyObjects, removeExtras } from "./copy-objects.ts";
import { emptySource } from "./empty-source.ts";
import { countOpenUploads, listStores } from "./listed-stores.ts";
import { findOthers } from "./processes.ts";

/** With fewer new objects than this, the last pass is short, during which nothing is removed. */
const FEW = 100;
const DAY_NS = 86_400_000_000_000n;

export interface StepOptions {
  /** Objects that are damaged in the old store are left there. */
  readonly isLeavingOutDamaged: boolean;
  /** How long the old store stays after nothing uses it any more. */
  readonly retentionSeconds: number;
  /** The settings that name the new store, as lines. */
  readonly settings: readonly string[];
}

interface Step extends StepOptions {
  readonly move: StoreMove;
}

/** Goes on with the move. */
export async function copyStore(deps: CopyDeps, options: StepOptions): Promise<CopyExit> {
  const move = await requireMove(deps);
  switch (move.state) {
    case "copying":
      await copyAll(deps, { ...options, move });
      return await copyStore(deps, options);
    case "both":
      return await settle(deps, { ...options, move });
    case "kept":
      return await emptyInTime(deps, { ...options, move });
    default:
      return move.state satisfies never;
  }
}

async function requireMove(deps: CopyDeps): Promise<StoreMove> {
  const move = await findMove(deps.db);
  if (!move) throw new CopyError("nothing moves to another store");
  if (move.state !== "copying" || !(await deps.target.getNote(moveNote(move)))) return move;
  // The switch broke off before its commit, or the database was restored to before it.
  await switchOver(deps, move);
  return { ...move, state: "both" };
}

/** Until the last pass everything goes on as before. */
async function copyAll(deps: CopyDeps, { move }: Step): Promise<void> {
  for (let copied = FEW; copied >= FEW; ) {
    await using session = await listStores(deps);
    ({ copied } = await copyObjects(deps, session));
    await copyNotes(deps, session, { isExact: false });
  }
  await using held = await holdRemovalsNow(deps);
  await using session = await listStores(deps);
  const { copied } = await copyObjects(deps, session);
  await removeExtras(deps, session);
  await copyNotes(deps, session, { isExact: true });
  await requireAllUse(deps, move);
  await held.requireHeld();
  await switchOver(deps, move);
  deps.write(`all objects and notes are in ${nameStore(move.target)}, ${copied} of them since the last pass`);
}

/** Nothing is removed from either store meanwhile; rejects while it is not known that database and store belong together. */
async function holdRemovalsNow({ db }: CopyDeps): Promise<HeldRemovals> {
  await withTransaction(db, requireSafeToDestroy);
  const held = await holdRemovals(db.pool);
  if (!held) throw new CopyError("a backup is being made; give the command again once it is complete");
  return held;
}

/** A process that knows nothing of the second store would not find what is only there. */
async function requireAllUse({ db, self }: CopyDeps, { source }: StoreMove): Promise<void> {
  const others = await findOthers(db, source, self);
  if (others.length > 0) throw new CopyError(`${others.join("; ")}; restart it, then give the command again`);
}

/**
 * From this commit on new objects go to the target. The notes are written before, for databases that are restored to before it. No mark of
 * before counts as confirmed any more, because one that is being written now is in the source only.
 */
async function switchOver({ db, source, target, confirm }: CopyDeps, move: StoreMove): Promise<void> {
  const note = Buffer.from(JSON.stringify({ source: move.source, target: move.target }));
  for (const store of [target, source]) await store.putNote(moveNote(move), note);
  await withTransaction(db, async (tx) => {
    await forgetConfirmed(tx);
    await tx.bucketUpload.updateMany({ where: { place: null }, data: { place: nameStore(move.source) } });
    await tx.storeMove.updateMany({ where: { name: move.name, state: "copying" }, data: { state: "both" } });
  });
  await confirm();
}

/** Copies what ended in the source since, and closes the source once nothing can end there any more. */
async function settle(deps: CopyDeps, step: Step): Promise<CopyExit> {
  const { move } = step;
  const waiting = await findOthers(deps.db, move.target, deps.self);
  await using held = await holdRemovalsNow(deps);
  await using session = await listStores(deps);
  const outcome = await copyObjects(deps, session);
  await copyNotes(deps, session, { isExact: false });
  const uploads = await countOpenUploads(session);
  if (uploads > 0) waiting.push(`${uploads} uploads that began in the old store are still open`);
  if (waiting.length > 0) return printWaiting(deps, step, waiting);
  if (!mayLeaveOut(deps, step, outcome)) return copyExits.damaged;
  await held.requireHeld();
  const [keptAtNs, data] = [deps.clock.nowNs(), { state: "kept" as const }];
  await deps.db.prisma.storeMove.updateMany({ where: { name: move.name, state: "both" }, data: { ...data, keptAtNs } });
  deps.write(`nothing uses ${nameStore(move.source)} any more`);
  return await emptyInTime(deps, { ...step, move: { ...move, ...data, keptAtNs } });
}

function printWaiting({ write }: CopyDeps, { move, settings }: Step, waiting: readonly string[]): CopyExit {
  for (const what of waiting) write(`waiting: ${what}`);
  write(`both stores are in use. Restart every process with these settings, one after the other:`);
  for (const line of settings) write(`  ${line}`);
  write(`then give the command again, with the same settings: ${nameStore(move.source)} is needed until then`);
  return copyExits.waiting;
}

function mayLeaveOut({ write }: CopyDeps, step: Step, { damaged }: CopiedObjects): boolean {
  if (damaged === 0 || step.isLeavingOutDamaged) return true;
  write(`${damaged} damaged objects are in the old store only; --leave-out-damaged goes on without them`);
  return false;
}

/** The old store is emptied once no backup that is ever restored can need it. */
async function emptyInTime(deps: CopyDeps, step: Step): Promise<CopyExit> {
  const { move, retentionSeconds } = step;
  const untilNs = move.keptAtNs! + BigInt(retentionSeconds) * 1_000_000_000n;
  if (deps.clock.nowNs() < untilNs) {
    const day = new Date(Number((untilNs + DAY_NS - 1n) / 1_000_000n)).toISOString().slice(0, 10);
    deps.write(`${nameStore(move.source)} stays as it is; give the command again on ${day} or later to empty it`);
    return copyExits.done;
  }
  await withTransaction(deps.db, requireSafeToDestroy);
  const outcome = await emptySource(deps, move, step);
  if (!mayLeaveOut(deps, step, outcome)) return copyExits.damaged;
  deps.write(`${nameStore(move.source)} is empty; the move is over`);
  return copyExits.done;
}
