/** The embedded Postgres cannot be used; the message says why, and what the operator can do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}

/** Another process serves the cluster, and must not be disturbed. */
export class ClusterInUseError extends EmbeddedPostgresError {
  readonly dataDir: string;
  readonly pid: number;

  constructor(dataDir: string, pid: number) {
    super(`the database in ${dataDir} is in use: process ${pid} serves it. Stop the other Downlink first.`);
    this.dataDir = dataDir;
    this.pid = pid;
  }
}
