import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { readBlob } from "../../store/blobs/testing/pieces.ts";
import type { OpenedStore } from "../../store/bucket-uploads/open-store.ts";
import { copyExits } from "./copy-exits.ts";
import { KilledError, Killer, keysOf, newManifest, notesOf, openMove, type Places } from "./testing/open-move.ts";

const tests: Record<string, (t: TestContext, places: Places, stride: number) => Promise<void>> = {
  async "wherever it is killed, everything is found, and the same command goes on to the end"(t, places, stride) {
    const move = await openMove(t, places);
    const keys = [await move.store(), await move.store(Buffer.alloc(0))].sort();
    const notes = [newManifest(), newManifest()].sort();
    for (const note of notes) await move.blobs.putNote(note, Buffer.from(note));
    const expected = await Promise.all(keys.map(async (key) => await readBlob(await move.own.open(key))));
    const isWhole = async (seen: OpenedStore) => {
      assert.deepEqual(await keysOf(seen), keys);
      assert.deepEqual(await notesOf(seen, "manifests/"), notes);
      for (const [at, key] of keys.entries()) assert.deepEqual(await readBlob(await seen.open(key)), expected[at]);
    };
    for (let step = 1, hasStruck = true; hasStruck; step += stride) {
      const { copy, stores, target, address } = await move.begin();
      const killer = new Killer(step);
      const watched = { source: killer.watch(stores.source), target: killer.watch(stores.target) };
      await copy({}, watched).catch((error) => assert.ok(error instanceof KilledError, String(error)));
      ({ hasStruck } = killer);
      await isWhole((await move.stateNow()) === "kept" ? target : move.blobs);
      if (hasStruck && (await move.stateNow()) === "both") {
        await move.round();
        await isWhole(await move.seenBy(address));
      }
      if ((await move.stateNow()) !== "kept") await move.round();
      assert.equal(await copy(), copyExits.done, move.lines.join("\n"));
      assert.equal(await move.stateNow(), "kept");
      await isWhole(target);
      await move.db.prisma.storeMove.deleteMany();
      for (const note of await notesOf(stores.source, "moves/")) await stores.source.removeNote(note);
      await move.forgetMarks();
    }
  },

  async "the old store is emptied after its time, wherever that is killed"(t, places) {
    const move = await openMove(t, places);
    const keys = [await move.store(), await move.store()].sort();
    const { copy, stores, target, address } = await move.begin();
    assert.equal(await copy(), copyExits.done);
    assert.match(move.lines.at(-1)!, /stays as it is; give the command again on \d{4}-\d\d-\d\d/);
    assert.deepEqual(await keysOf(stores.source), keys);
    const seen = await move.seenBy(address);
    await move.round(seen);
    const stray = await move.store().catch(() => undefined);
    assert.equal(stray, undefined, "a process with the old settings writes nothing any more");
    for (let step = 1, hasStruck = true; hasStruck; step += 1) {
      const killer = new Killer(step);
      const watched = { source: killer.watch(stores.source), target: killer.watch(stores.target) };
      await copy({ retentionSeconds: 0 }, watched).catch((error) =>
        assert.ok(error instanceof KilledError, String(error)),
      );
      ({ hasStruck } = killer);
      assert.deepEqual(await keysOf(target), keys);
    }
    assert.equal(await move.stateNow(), undefined);
    assert.deepEqual(await keysOf(stores.source), []);
    for (const kind of ["manifests/", "marks/", "ledger/", "moves/"])
      assert.deepEqual(await notesOf(stores.source, kind), []);
    assert.deepEqual(await keysOf(seen), keys);
    await move.round(seen);
  },
};

interface Kinds {
  readonly openPlaces: () => Promise<Places>;
  readonly skip?: string | undefined;
  /** One of so many steps is tried where a step takes long. */
  readonly stride?: number;
}

/** Kills the command between two steps, one after the other. */
export function describeKilledCopies(name: string, { openPlaces, skip, stride = 1 }: Kinds): void {
  for (const [what, run] of Object.entries(tests))
    test(`${name}: ${what}`, { skip }, async (t) => run(t, await openPlaces(), stride));
}
