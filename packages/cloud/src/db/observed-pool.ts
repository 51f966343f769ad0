import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";

interface Taken {
  client?: pg.PoolClient;
}

const taking = new AsyncLocalStorage<Taken>();

/** A pool that shows which connection it gives to who begins a transaction by way of Prisma, which tells nobody. */
export class ObservedPool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: pg has two overloads of one function.
  override connect(callback?: any): any {
    const taken = taking.getStore();
    if (callback !== undefined || taken === undefined) return super.connect(callback);
    return super.connect().then((client) => {
      taken.client = client;
      return client;
    });
  }
}

/** Runs `begin`, and shows it the connection that was given last within it. */
export function observeConnection<T>(begin: (taken: Readonly<Taken>) => Promise<T>): Promise<T> {
  const taken: Taken = {};
  return taking.run(taken, () => begin(taken));
}

/** Runs `work`, whose connections are its own affair. */
export function unobserved<T>(work: () => T): T {
  return taking.exit(work);
}
