import { randomBytes, randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import type { JobQueue } from "../../../background/jobs/queue.ts";
import { prepareDeployment } from "../../../calls/setup/first-start.ts";
import { type Database, openDatabase } from "../../../db/client.ts";
import { newId } from "../../../db/ids.ts";
import { openStores } from "../../../keeping/stores/open-stores.ts";
import { goMarkRound } from "../../../recovery/mark-round.ts";
import { MarkNotes } from "../../../recovery/marks.ts";
import { testClock, testSigner } from "../../../store/blobs/testing/open-file-store.ts";
import { inPieces } from "../../../store/blobs/testing/pieces.ts";
import { type OpenedStore, openStore } from "../../../store/bucket-uploads/open-store.ts";
import type { StoreAddress } from "../../../store/bucket-uploads/store-address.ts";
import { sha256 } from "../../../testing/test-agent.ts";
import { createTestDatabase } from "../../../testing/test-database.ts";
import { beginMove } from "../begin-move.ts";
import type { CopyDeps } from "../copy-deps.ts";
import { copyStore, type StepOptions } from "../copy-store.ts";

export interface Places {
  readonly source: StoreAddress;
  /** Returns the address of an empty store; each call returns another one. */
  readonly newTarget: () => Promise<StoreAddress>;
}

const log = { info: () => {}, warn: () => {} };
const never = new AbortController().signal;
const MONTH_SECONDS = 30 * 86_400;

/** A deployment without a server: a database, objects and notes in the source, and what processes see of both stores. */
/** No worker is there to read again an object that was found damaged. */
const noJobs: JobQueue = {
  enqueue: async () => {},
  enqueueAll: async () => {},
  enqueueIndexing: async () => {},
  enqueueReading: async () => {},
  enqueueThumbnails: async () => {},
  enqueueRemovals: async () => {},
};

export async function openMove(t: TestContext, { source, newTarget }: Places) {
  const stack = new AsyncDisposableStack();
  t.after(() => stack.disposeAsync());
  const url = await createTestDatabase(t);
  const db = stack.use(openDatabase(url, { maxConnections: 8, log }));
  await prepareDeployment(db, { adminKey: undefined, nowNs: 1n, keepAdminKey: async () => {} });
  const deps = { db, signer: testSigner, publicUrl: () => "http://localhost", clock: testClock };
  const open = (address: StoreAddress) => openStore(stack, address, deps);
  const own = await open(source);
  /** Opens the stores as a process does whose settings name this store. */
  const seenBy = (address: StoreAddress) => openStores(stack, address, deps);
  const blobs = await seenBy(source);
  const round = (store: OpenedStore = blobs) =>
    goMarkRound({ ...deps, log, blobs: store, marks: new MarkNotes(store), findLost: async () => undefined });
  await round();
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const base = { db, jobs: noJobs, clock: testClock, self: undefined, signal: never, write, confirm: () => round() };
  const objects = await objectsOf(db, blobs);
  const begin = async (given?: StoreAddress) => {
    const target = given ?? (await newTarget());
    const opened = await open(target);
    await beginMove({ ...base, target: opened }, { source, target });
    const stores = { source: own, target: opened };
    const copy = (options: Partial<StepOptions> = {}, over: Partial<CopyDeps> = {}) =>
      copyStore(
        { ...base, ...stores, ...over },
        { isLeavingOutDamaged: false, retentionSeconds: MONTH_SECONDS, settings: [], ...options },
      );
    return { address: target, target: opened, stores, copy };
  };
  /** Leaves the last mark only, so that one run takes as many steps as another. */
  const forgetMarks = async () => {
    await round();
    const { confirmed } = await db.prisma.deploymentMark.findFirstOrThrow();
    for (const key of await notesOf(own, "marks/")) if (key !== `marks/${confirmed}`) await own.removeNote(key);
  };
  const stateNow = async () => (await db.prisma.storeMove.findFirst())?.state;
  return { url, db, open, own, blobs, lines, seenBy, round, ...objects, begin, stateNow, forgetMarks };
}

/** Objects that rows promise. */
async function objectsOf({ prisma }: Database, blobs: OpenedStore) {
  const { id: orgId } = await prisma.organization.findFirstOrThrow();
  return {
    /** Stores an object, and returns its key. */
    async store(bytes = randomBytes(2000), promised = sha256(bytes)) {
      const [extensionId, id, stamp] = [newId("ext"), newId("extv"), 1n];
      const [blobKey, name] = [`${orgId}/${id}`, randomUUID()];
      await blobs.put(blobKey, inPieces(bytes));
      const names = { publisher: "p", name, identity: `p.${name}`, displayName: name };
      const stamps = { createdAtNs: stamp, updatedAtNs: stamp };
      await prisma.extension.create({ data: { id: extensionId, orgId, ...names, ...stamps } });
      const stored = { version: "1.0.0", sha256: promised, sizeBytes: BigInt(bytes.length), blobKey };
      await prisma.extensionVersion.create({ data: { id, extensionId, ...stored, createdAtNs: stamp } });
      return blobKey;
    },
    /** Does what the deletion of an object does in a running deployment. */
    async remove(seen: OpenedStore, blobKey: string) {
      await prisma.extensionVersion.deleteMany({ where: { blobKey } });
      await seen.delete(blobKey);
    },
  };
}

export const keysOf = async (store: OpenedStore) => (await Array.fromAsync(store.list(""), ({ key }) => key)).sort();
export const notesOf = async (store: OpenedStore, prefix: string) =>
  (await Array.fromAsync(store.listNotes(prefix), ({ key }) => key)).sort();
/** Makes the key of a manifest of an unknown upload. */
export const newManifest = () => `manifests/org_1/${randomBytes(8).toString("hex")}/begun`;

/** Throws from some step on, as if the process had died after it. */
export class Killer {
  #left: number;

  /** Dies right after the `step`-th call to a store. */
  constructor(step: number) {
    this.#left = step;
  }

  get hasStruck(): boolean {
    return this.#left <= 0;
  }

  /** A store through which the process works. */
  watch(store: OpenedStore): OpenedStore {
    const watched = Object.entries(store).map(([name, method]) => [
      name,
      typeof method === "function" ? this.#watchMethod(name, method) : method,
    ]);
    return Object.fromEntries(watched);
  }

  #watchMethod(name: string, method: (...args: unknown[]) => unknown) {
    if (name.startsWith("list"))
      return (...args: unknown[]) => {
        if (this.#takeStep() === "dead") throw new KilledError();
        return method(...args);
      };
    return async (...args: unknown[]) => {
      const step = this.#takeStep();
      if (step === "dead" || (step === "dying" && name === "open")) throw new KilledError();
      const answer = await method(...args);
      if (step === "dying") throw new KilledError();
      return answer;
    };
  }

  #takeStep(): "alive" | "dying" | "dead" {
    if (this.#left <= 0) return "dead";
    this.#left -= 1;
    return this.#left === 0 ? "dying" : "alive";
  }
}

export class KilledError extends Error {
  override readonly name = "KilledError";
}
