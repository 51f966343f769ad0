import pg from "pg";

/**
 * A connection that is asked the next query when the last one is answered. In a transaction, all queries that are asked side by
 * side have the one connection of it; pg queues them by itself, but will not for ever and says so on the terminal.
 */
export class SequentialClient extends pg.Client {
  #answered: Promise<unknown> = Promise.resolve();

  // biome-ignore lint/suspicious/noExplicitAny: pg has eight overloads of one function.
  override query(...args: any[]): any {
    const ask = () => super.query(...(args as Parameters<pg.Client["query"]>));
    if (args.some(isCallback)) return ask(); // the pool itself, of a connection that nobody else has
    const answer = this.#answered.then(ask);
    this.#answered = answer.catch(() => {}); // it fails for who asked
    return answer;
  }
}

function isCallback(arg: unknown): boolean {
  return typeof arg === "function";
}
