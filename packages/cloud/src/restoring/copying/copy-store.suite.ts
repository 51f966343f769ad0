import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { pino } from "pino";
import { newId } from "../../db/ids.ts";
import { requireRightStore } from "../../keeping/stores/open-stores.ts";
import { listenForWorkSignals } from "../../process/polls/work-signals.ts";
import { holdRemovals } from "../../recovery/removals-held.ts";
import { StorageFullError } from "../../store/blobs/blob-errors.ts";
import { cutParts, inPieces, readAll, readBlob } from "../../store/blobs/testing/pieces.ts";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";
import { replayMove } from "../replay/replay-move.ts";
import { copyExits } from "./copy-exits.ts";
import { lateSwitch } from "./testing/late-switch.ts";
import { keysOf, newManifest, openMove, type Places } from "./testing/open-move.ts";

const PART_BYTES = 64 * 1024;
const listener = { onSignal: () => {}, onMissedSignals: () => {} };
const log = pino({ level: "silent" });
const tests: Record<string, (t: TestContext, places: Places) => Promise<void>> = {
  async "an altered object is named, does not count as moved, and stays readable"(t, places) {
    const move = await openMove(t, places);
    const [sound, altered] = [await move.store(), await move.store(randomBytes(500), "0".repeat(64))];
    const { copy, target } = await move.begin();
    assert.equal(await copy(), copyExits.damaged);
    assert.ok(
      move.lines.some((line) => line.startsWith(`DAMAGED ${altered}: its SHA-256 is `)),
      move.lines.join("\n"),
    );
    assert.deepEqual(await keysOf(target), [sound]);
    assert.deepEqual(await move.db.prisma.movedObject.findMany({ select: { key: true } }), [{ key: sound }]);
    assert.equal((await readBlob(await move.blobs.open(altered))).byteLength, 500);
    assert.equal(await copy({ isLeavingOutDamaged: true }), copyExits.done);
    assert.equal(await move.stateNow(), "kept");
  },

  async "a store that changes what it took is not trusted"(t, places) {
    const move = await openMove(t, places);
    const key = await move.store();
    const { copy, stores, target } = await move.begin();
    const changing: OpenedStore = {
      ...target,
      put: async (at, body) => {
        const bytes = await readAll(body);
        bytes[0]! ^= 1; // another byte, whatever it was
        return target.put(at, inPieces(bytes));
      },
    };
    await assert.rejects(copy({}, { ...stores, target: changing }), /does not have the bytes of/);
    assert.deepEqual(await keysOf(target), []);
    assert.equal(await copy(), copyExits.done);
    assert.deepEqual(await keysOf(target), [key]);
  },

  async "a new store that fails in the middle disturbs nobody, and the same command goes on"(t, places) {
    const move = await openMove(t, places);
    const keys = [await move.store(), await move.store(), await move.store()].sort();
    const { copy, stores, target } = await move.begin();
    let left = 1;
    const full: OpenedStore = {
      ...target,
      put: (...args) => (left-- > 0 ? target.put(...args) : Promise.reject(new StorageFullError("full"))),
    };
    await assert.rejects(copy({}, { ...stores, target: full }), StorageFullError);
    assert.equal(await move.stateNow(), "copying");
    keys.push(await move.store());
    assert.deepEqual(await keysOf(move.blobs), keys.sort());
    assert.equal(await copy(), copyExits.done);
    assert.deepEqual(await keysOf(target), keys);
  },

  async "what is removed while it is copied stays removed, before the switch and after it"(t, places) {
    const move = await openMove(t, places);
    const [early, late, kept] = [await move.store(), await move.store(), await move.store()];
    const { copy, stores, target } = await move.begin();
    const removing: OpenedStore = {
      ...target,
      put: async (key, ...rest) => {
        const written = await target.put(key, ...rest);
        if (key === early) await move.remove(move.blobs, early);
        return written;
      },
    };
    let isRemoved = false;
    const stopping: OpenedStore = {
      ...removing,
      putNote: async (key, bytes) => {
        if (key.startsWith("moves/")) isRemoved = !(await target.stat(early));
        await target.putNote(key, bytes);
      },
    };
    const outcome = await copy({}, { ...stores, target: stopping, db: lateSwitch(move.db) }).catch((error) => error);
    assert.match(String(outcome), /after the switch/);
    assert.ok(isRemoved, "the copy goes before new objects come");
    assert.equal(await move.stateNow(), "both");
    assert.deepEqual(await keysOf(move.blobs), [late, kept].sort());
    await move.remove(move.blobs, late);
    assert.deepEqual([await keysOf(stores.source), await keysOf(target)], [[kept], [kept]]);
  },

  async "an upload ends where it began, and later ones are in the new store"(t, places) {
    const move = await openMove(t, places);
    const bytes = randomBytes(2 * PART_BYTES);
    const [first, second] = cutParts(bytes, PART_BYTES);
    const plan = { sizeBytes: bytes.byteLength, partSizeBytes: PART_BYTES };
    const [begun, later] = [`org_1/${newId("upl")}`, `org_1/${newId("upl")}`];
    await move.blobs.createUpload(begun, plan);
    await move.blobs.grantParts(begun, [first!.plan]);
    await move.blobs.receivePart(begun, first!.plan, inPieces(first!.bytes));
    const { copy, stores, target, address } = await move.begin();
    await move.db.prisma.bucketUpload.updateMany({ data: { place: null } }); // as one that is older than the move
    await copy({}, { db: lateSwitch(move.db) }).catch(() => {});
    const [before, after] = [move.blobs, await move.seenBy(address)];
    for (const seen of [before, after]) {
      await seen.createUpload(begun, plan);
      assert.deepEqual(
        (await seen.listParts(begun)).map(({ number }) => number),
        [1],
      );
    }
    await after.grantParts(begun, [second!.plan]);
    await after.receivePart(begun, second!.plan, inPieces(second!.bytes));
    await after.completeUpload(begun, await after.listParts(begun));
    await before.createUpload(later, plan);
    await assert.rejects(stores.source.listParts(later), { code: "UploadClosed" });
    await after.abortUpload(later);
    await assert.rejects(before.listParts(later), { code: "UploadClosed" });
    await assert.rejects(before.put(begun, inPieces(bytes)), { code: "Conflict" });
    assert.ok(await stores.source.stat(begun));
    for (const seen of [before, after]) assert.deepEqual(await readBlob(await seen.open(begun)), bytes);
    const last = `org_1/${newId("upl")}`;
    await before.createUpload(last, plan);
    assert.equal(await copy({ retentionSeconds: 0 }), copyExits.done);
    assert.deepEqual(await readBlob(await target.open(begun)), bytes);
    assert.deepEqual(await after.listParts(last), [], "it goes on after the move");
    assert.equal(await move.db.prisma.bucketUpload.count({ where: { place: { not: null } } }), 0);
  },

  async "a database that was restored to before the switch learns of the second store"(t, places) {
    const move = await openMove(t, places);
    await move.store();
    const { copy, target, address } = await move.begin();
    await copy({}, { db: lateSwitch(move.db) }).catch(() => {});
    const added = await move.store();
    assert.ok(await target.stat(added));
    await move.db.prisma.storeMove.updateMany({ data: { state: "copying" } });
    await assert.doesNotReject(requireRightStore(move.db, target, address), "the note says that it was switched");
    await replayMove({ db: move.db, blobs: move.blobs, log });
    assert.equal(await move.stateNow(), "both");
    await move.db.prisma.storeMove.deleteMany();
    assert.equal(await move.blobs.stat(added), undefined);
    await replayMove({ db: move.db, blobs: move.blobs, log });
    assert.ok(await move.blobs.stat(added));
    await move.db.prisma.storeMove.updateMany({ data: { state: "copying" } });
    assert.equal(await copy(), copyExits.done, "nor does the copy remove what only the new store has");
    assert.ok(await target.stat(added));
  },

  async "processes are refused whose settings do not fit"(t, places) {
    const move = await openMove(t, places);
    await move.store();
    const { copy, target, address } = await move.begin();
    const [early, late] = [await move.seenBy(address), move.blobs];
    await assert.rejects(requireRightStore(move.db, target, address), /are not all in .* yet: keep .* in the settings/);
    await assert.rejects(early.putNote(newManifest(), Buffer.from("x")), /are not all in/);
    const stranger = { kind: "file", directory: "/nowhere" } as const;
    await assert.rejects(requireRightStore(move.db, target, stranger), /the settings name file:\/nowhere/);
    assert.equal(await copy(), copyExits.done);
    await assert.rejects(
      requireRightStore(move.db, move.own, places.source),
      /were moved to .*, and the settings name/,
    );
    await assert.rejects(late.putNote(newManifest(), Buffer.from("x")), /were moved to/);
    await early.putNote(newManifest(), Buffer.from("x"));
  },

  async "nothing begins that cannot end, each with its reason"(t, places) {
    const move = await openMove(t, places);
    await move.store();
    const used = await places.newTarget();
    const other = await openMove(t, { ...places, source: used });
    await other.store();
    await assert.rejects(
      move.begin(used),
      /holds marks of another deployment: the objects move to an empty store only/,
    );
    await assert.rejects(move.begin(places.source), /the objects are in .* already/);
    const filled = await places.newTarget();
    await (await move.open(filled)).put("org_1/something", inPieces(randomBytes(3)));
    await assert.rejects(
      move.begin(filled),
      /holds an object, org_1\/something: the objects move to an empty store only/,
    );
    const { copy } = await move.begin();
    {
      await using _backup = (await holdRemovals(move.db.pool))!;
      await assert.rejects(copy(), /a backup is being made; give the command again/);
    }
    await using _process = await listenForWorkSignals({ url: move.url, log, listener, store: "another" });
    await assert.rejects(copy(), /1 process\(es\) with the settings of another store on .*; restart it/);
    assert.equal(await move.stateNow(), "copying");
  },
};

interface Kinds {
  readonly openPlaces: () => Promise<Places>;
  readonly skip?: string | undefined;
  /** By default all. */
  readonly promises?: readonly string[];
}

/** The names of the tests, in their order: the last ones lose nothing if they fail. */
export const copyPromises: readonly string[] = Object.keys(tests);

/** The tests of a move between stores of two kinds. */
export function describeCopy(name: string, { openPlaces, skip, promises = copyPromises }: Kinds): void {
  for (const what of promises) test(`${name}: ${what}`, { skip }, async (t) => tests[what]!(t, await openPlaces()));
}
