import type { EventEmitter } from "node:events";
import pg from "pg";
import { PreparedQuery } from "./prepared-query.ts";

/** The server is a standby: it only reads, and takes the place of another server once it is promoted. */
class StandbyError extends Error {
  /** The code that a server sends while it is not ready yet. */
  readonly code = "57P03";
  constructor() {
    super("the database is a standby, which only reads; waiting until it is promoted");
  }
}

interface Parameter {
  readonly parameterName: string;
  readonly parameterValue: string;
}

/**
 * A connection that sends a query once the last one is answered. In a transaction, all queries side by side share its one connection; pg
 * still queues them by itself, but prints a warning that it will stop to.
 */
export class SequentialClient extends pg.Client {
  #answered: Promise<unknown> = Promise.resolve();
  #isStandby = false;
  /** The error by which the connection was lost first. */
  #lost: Error | undefined;

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const { connection } = this as unknown as { readonly connection: EventEmitter };
    connection.on("parameterStatus", ({ parameterName, parameterValue }: Parameter) => {
      if (parameterName === "in_hot_standby") this.#isStandby = parameterValue === "on";
    });
    // A pool listens to idle connections only. Without a listener, losing another one would end the process; its query fails in any case.
    this.on("error", (error) => {
      this.#lost ??= error;
    });
    const connecting = this.#connectToPrimary();
    if (!callback) return connecting;
    connecting.then(() => (callback as () => void)(), callback);
  }

  /** A connection to a standby would stay one, and fail each change, when the primary is elsewhere. */
  async #connectToPrimary(): Promise<pg.Client> {
    await super.connect();
    if (this.#lost) throw this.#lost; // in the same packet as the server's welcome
    if (!this.#isStandby) return this;
    await this.end();
    throw new StandbyError();
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg has eight overloads of one function.
  override query(...args: any[]): any {
    const ask = () => super.query(...(args as Parameters<pg.Client["query"]>));
    if (args.some(isCallback)) return ask(); // the pool itself asks, on a connection that has no other user
    const [query] = args;
    const answer = this.#answered.then(query instanceof PreparedQuery ? () => this.#run(query) : ask);
    this.#answered = answer.catch(() => {}); // it fails for who asked
    return answer;
  }

  /** pg answers a query of one's own with itself. */
  #run(query: PreparedQuery): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    query.callback = (error, answer) => (error ? reject(error) : resolve(answer));
    super.query(query as unknown as pg.Submittable);
    return promise;
  }
}

function isCallback(arg: unknown): boolean {
  return typeof arg === "function";
}
