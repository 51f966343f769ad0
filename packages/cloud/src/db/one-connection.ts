import type pg from "pg";
import type { Database } from "./client.ts";
import type { PrismaClient } from "./generated/client.ts";
import { observeConnection, runUnobserved } from "./observed-pool.ts";
import { beginTransaction, type Transaction } from "./transaction.ts";

/** The limit of the longest transaction that a call runs. */
const LONGEST_MS = 600_000;

/** A database whose queries are all part of one transaction. */
export type DatabaseInTransaction = Database & { readonly tx: Transaction };

/**
 * Runs `work` with a database whose queries all run in one transaction over one connection, through whichever query layer. A transaction
 * that is begun inside is a part of it, and is undone alone if it fails. Everything commits once `work` resolves, and is repeated as
 * `withTransaction` says.
 */
export function withOneConnection<T>(db: Database, work: (db: DatabaseInTransaction) => Promise<T>): Promise<T> {
  return observeConnection((taken) =>
    beginTransaction(
      db,
      (tx) => {
        if (taken.client === undefined) throw new Error("the transaction did not take its connection from the pool");
        const within = bindToClient(tx, taken.client);
        return runUnobserved(() => work(within));
      },
      LONGEST_MS,
    ),
  );
}

/**
 * Does what {@link withOneConnection} does. Inside of another one it joins that one, whose beginner ends it: so a failure must be thrown on
 * to the beginner.
 */
export function joinOneConnection<T>(db: Database, work: (db: DatabaseInTransaction) => Promise<T>): Promise<T> {
  return isInTransaction(db) ? work(db) : withOneConnection(db, work);
}

function isInTransaction(db: Database): db is DatabaseInTransaction {
  return db.tx !== undefined;
}

function bindToClient(tx: Transaction, client: pg.PoolClient): DatabaseInTransaction {
  const pool = {
    query: client.query.bind(client),
    connect: async () => ({ query: client.query.bind(client), release: () => {} }), // the connection stays with the transaction
  } as unknown as pg.Pool;
  return { tx, prisma: tx as PrismaClient, pool };
}
