import type { Ctx } from "../calls/context/context.ts";
import type { Database } from "../db/client.ts";
import type { PrismaClient } from "../db/generated/client.ts";
import type { BlobStore, PutOptions } from "../store/blobs/blob-store.ts";

type Mortal = Pick<Ctx, "db" | "blobs">;

export class DeadProcessError extends Error {}

/** A process that dies before one of its calls of the database or the store. */
export interface DyingProcess<Parts> extends Disposable {
  readonly parts: Parts;
  /** Runs what the process does until it has died. Other failures are thrown on. */
  run(work: () => Promise<unknown>): Promise<void>;
  /** The call before which it died; undefined: its work was done before. */
  diedBefore(): string | undefined;
}

/**
 * Returns these parts of a control plane as a process has them that dies before its call number `last`, counted from 1: this call and all
 * later ones fail and change nothing, a transaction is undone, and a write into the store leaves what it has written so far. A commit is a
 * call, and a write into the store is two: its beginning, and what follows its first piece.
 */
export function dieAt<Parts extends Mortal>(parts: Parts, last: number): DyingProcess<Parts> {
  let calls = 0;
  let died: string | undefined;
  const buried = Promise.withResolvers<void>();
  const count = (name: string) => {
    calls += 1;
    if (calls < last) return;
    died ??= name;
    throw new DeadProcessError(`the process died before ${died}`);
  };
  return {
    parts: {
      ...parts,
      db: wrapDatabase(parts.db, count),
      blobs: wrapStore(parts.blobs, { count, buried: buried.promise }),
    },
    run: async (work) => {
      try {
        await work();
      } catch (error) {
        if (died === undefined) throw error;
      }
    },
    diedBefore: () => died,
    [Symbol.dispose]: () => buried.resolve(),
  };
}

type Count = (name: string) => void;

function wrapDatabase({ prisma, pool }: Database, count: Count): Database {
  return { prisma: wrapPrisma(prisma, count), pool: wrapCalls(pool, (name) => count(`pool.${name}`)) };
}

function wrapPrisma<P extends object>(prisma: P, count: Count): P {
  const get = (of: P, name: string) => {
    const found = Reflect.get(of, name);
    if (name === "$transaction") return wrapTransaction(of as unknown as PrismaClient, count);
    if (typeof found === "object" && found !== null) return wrapCalls(found, (call) => count(`${name}.${call}`));
    return typeof found === "function" ? countBefore(of, found as Call, () => count(name)) : found;
  };
  return new Proxy(prisma, { get: (of, name) => (typeof name === "string" ? get(of, name) : Reflect.get(of, name)) });
}

type Work = Parameters<PrismaClient["$transaction"]>[0];

function wrapTransaction(prisma: PrismaClient, count: Count) {
  return (work: (tx: object) => Promise<unknown>, options?: object) => {
    count("BEGIN");
    const inside = async (tx: object) => {
      const result = await work(wrapPrisma(tx, count));
      count("COMMIT");
      return result;
    };
    return prisma.$transaction(inside as unknown as Work, options);
  };
}

function wrapCalls<O extends object>(object: O, count: Count): O {
  const get = (of: O, name: string | symbol) => {
    const found = Reflect.get(of, name);
    return typeof found === "function" ? countBefore(of, found as Call, () => count(String(name))) : found;
  };
  return new Proxy(object, { get });
}

type Call = (...given: unknown[]) => unknown;

/** A call that is not made rejects, as all calls of the database and the store do. */
function countBefore(of: object, call: Call, count: () => void) {
  return (...given: unknown[]) => {
    try {
      count();
    } catch (error) {
      return Promise.reject(error);
    }
    return call.apply(of, given);
  };
}

interface Fate {
  readonly count: Count;
  /** Resolves when the remains of the process may be removed. */
  readonly buried: Promise<void>;
}

function wrapStore(store: BlobStore, { count, buried }: Fate): BlobStore {
  const wrapped = wrapCalls(store, (name) => count(`the store's ${name}`));
  const put = async (key: string, body: AsyncIterable<Uint8Array>, options?: PutOptions) => {
    count("the store's put");
    const dead = Promise.withResolvers<never>();
    const pieces = breakOff(body, { count, buried, died: dead.reject });
    return Promise.race([dead.promise, store.put(key, pieces, options)]);
  };
  return new Proxy(wrapped, { get: (of, name) => (name === "put" ? put : Reflect.get(of, name)) });
}

/** A process that dies does not clean up: the store waits for more bytes until the process is buried. */
async function* breakOff(
  body: AsyncIterable<Uint8Array>,
  { count, buried, died }: Fate & { died: (error: unknown) => void },
): AsyncGenerator<Uint8Array> {
  let isFirst = true;
  for await (const piece of body) {
    yield piece;
    if (!isFirst) continue;
    isFirst = false;
    try {
      count("the rest of the store's put");
    } catch (error) {
      died(error);
      await buried;
      throw error;
    }
  }
}
