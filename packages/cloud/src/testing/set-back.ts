import pg from "pg";

/** A copy of a database as it is at this moment; who uses it loses their connections, and gets new ones. Answers the copy's URL. */
export async function copyDatabase(url: string): Promise<string> {
  const name = nameOf(url);
  const copy = `${name}_${Date.now().toString(36)}${Math.floor(Math.random() * 1e6).toString(36)}`;
  await onServer(url, async (run) => {
    await inPeace(run, name, () => run(`CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY file_copy`));
  });
  const found = new URL(url);
  found.pathname = `/${copy}`;
  return found.href;
}

/** Sets a database back to a copy of it, even while processes use it, and keeps the copy. */
export async function restoreDatabase(url: string, copyUrl: string): Promise<void> {
  const [name, copy] = [nameOf(url), nameOf(copyUrl)];
  await onServer(url, async (run) => {
    await run(`DROP DATABASE ${name} WITH (FORCE)`);
    await run(`CREATE DATABASE ${name} TEMPLATE ${copy} STRATEGY file_copy`);
  });
}

export async function dropDatabase(url: string): Promise<void> {
  await onServer(url, (run) => run(`DROP DATABASE ${nameOf(url)} WITH (FORCE)`));
}

type Run = (sql: string) => Promise<unknown>;

async function inPeace(run: Run, name: string, act: () => Promise<unknown>): Promise<void> {
  await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  try {
    for (;;) {
      await run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      const left = (await run(`SELECT FROM pg_stat_activity WHERE datname = '${name}'`)) as { rowCount: number };
      if (left.rowCount === 0) break;
    }
    await act();
  } finally {
    await run(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  }
}

async function onServer(url: string, work: (run: Run) => Promise<unknown>): Promise<void> {
  const server = new URL(url);
  server.pathname = "/postgres";
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    await work((sql) => client.query(sql));
  } finally {
    await client.end();
  }
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
