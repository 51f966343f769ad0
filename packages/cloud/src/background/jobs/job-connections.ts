import type { Db } from "pg-boss";
import type { Logger } from "pino";
import { ChannelListener } from "../../db/channel-listener.ts";
import { ObservedPool } from "../../db/observed-pool.ts";
import { SequentialClient } from "../../db/sequential-client.ts";

const CONNECT_TIMEOUT_MS = 10_000;
/** The connection that listens is asked so often whether it is still there. Workers also look for jobs that no signal announced. */
const PROOF_INTERVAL_MS = 10_000;

interface JobConnectionsOptions {
  /** The URL of the database. */
  readonly url: string;
  readonly log: Logger;
  /** How many connections the statements share. */
  readonly connections: number;
}

/**
 * Opens the connections of the job queue: some that its statements share, and one that listens. A server that ends them fails the statement
 * that needs one and nothing else, at whatever moment; pg-boss' own end the process if that happens while they are being closed.
 */
export function openJobConnections({ url, log, connections }: JobConnectionsOptions): Db & AsyncDisposable {
  const pool = new ObservedPool({
    Client: SequentialClient,
    connectionString: url,
    max: connections,
    application_name: "downlink-jobs",
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  pool.on("error", (error) => {
    if (!pool.ending) log.warn({ err: error }, "job queue error");
  });
  return {
    executeSql: (text, values) => pool.query(text, values),
    async listen(channel, onMessage, onGap) {
      const listener = await ChannelListener.start({
        ...{ url, log, onMessage, onGap },
        channel: `"${channel}"`,
        name: "downlink-jobs",
        proofIntervalMs: PROOF_INTERVAL_MS,
      });
      return { close: () => listener[Symbol.asyncDispose]() };
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}
