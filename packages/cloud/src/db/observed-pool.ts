import { AsyncLocalStorage } from "node:async_hooks";
import pg from "pg";
import { isRefused } from "./sql-state.ts";

interface Taken {
  client?: pg.PoolClient;
}

type OnConnection = Parameters<typeof pg.Pool.prototype.connect>[0];

const taking = new AsyncLocalStorage<Taken>();
/**
 * A Postgres that was restarted refuses connections for a few seconds. A longer restart is not waited for: the clients learn when to come
 * back.
 */
const PATIENCE_MS = 3000;
const ASK_AGAIN_MS = 100;

/**
 * Prisma does not say which connection a transaction uses; this pool shows which one it gave. Where the server refuses a connection, it is
 * asked again for a while: nothing was sent yet, so that waiting does no harm and spares a caller the failure.
 */
export class ObservedPool extends pg.Pool {
  // biome-ignore lint/suspicious/noExplicitAny: pg has two overloads of one function.
  override connect(callback?: any): any {
    const deadlineMs = performance.now() + PATIENCE_MS;
    if (callback !== undefined) return this.#connectBefore(deadlineMs, callback);
    const { promise, resolve, reject } = Promise.withResolvers<pg.PoolClient>();
    const taken = taking.getStore();
    this.#connectBefore(deadlineMs, (error, client) => {
      if (!client) return reject(error);
      if (taken) taken.client = client;
      resolve(client);
    });
    return promise;
  }

  #connectBefore(deadlineMs: number, callback: OnConnection): void {
    super.connect((error, client, release) => {
      const isOver = !error || this.ending || performance.now() > deadlineMs || !isRefused(error);
      if (isOver) callback(error, client, release);
      else setTimeout(() => this.#connectBefore(deadlineMs, callback), ASK_AGAIN_MS);
    });
  }
}

/** Runs `begin`, and shows it the last connection that was given while it runs. */
export function observeConnection<T>(begin: (taken: Readonly<Taken>) => Promise<T>): Promise<T> {
  const taken: Taken = {};
  return taking.run(taken, () => begin(taken));
}

/** Runs `work`, whose connections are not observed. */
export function runUnobserved<T>(work: () => T): T {
  return taking.exit(work);
}
