export const UNIQUE_VIOLATION = "23505";
export const FOREIGN_KEY_VIOLATION = "23503";
/** Postgres ended a statement: it took longer than `statement_timeout`. */
export const QUERY_CANCELED = "57014";

const DISK_FULL = "53100";

const SQLSTATE = /^(?:[0-5][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;
const MAX_DEPTH = 6;
/**
 * The connection was lost or refused, the server shuts down, has no free connection, or only reads because another one took its place; or
 * others were in the way of a transaction at each of its attempts.
 */
const AWAY = /^(08|57P|53|25006$|40001$|40P01$)/;
/** The messages of pg and its pool that have no code: a connection was lost, is closed, or did not become free in time. */
const AWAY_TEXTS = /Connection terminated|is not queryable|timeout exceeded when trying to connect|timeout expired/;
/** No server listens, or it is starting or shutting down; or it ended a connection that it had just accepted. */
const REFUSED = new Set(["ECONNREFUSED", "ENOENT", "57P01", "57P03"]);
const AWAY_CODES = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "P1001",
  "P1008",
  "P1017",
  "P2024",
  "P2028",
]);

/** The adapter of Prisma calls a lost connection so, and a raw statement's error has nothing else that says it. */
const AWAY_KINDS = new Set(["ConnectionClosed", "DatabaseNotReachable", "SocketTimeout"]);

/** Finds the SQLSTATE of an error of Prisma or pg, at whatever depth; undefined if the error came from elsewhere. */
export function sqlState(error: unknown): string | undefined {
  return chain(error)
    .map(stateOf)
    .find((state) => state !== undefined);
}

/** For a `catch`: calls `instead` if another row has the name or key. */
export function onUniqueViolation<T>(instead: () => T): (error: unknown) => T {
  return onState(UNIQUE_VIOLATION, instead);
}

/** For a `catch`: calls `instead` if the row is in use, or the row that it refers to is gone. */
export function onForeignKeyViolation<T>(instead: () => T): (error: unknown) => T {
  return onState(FOREIGN_KEY_VIOLATION, instead);
}

function onState<T>(state: string, instead: () => T) {
  return (error: unknown): T => {
    if (sqlState(error) !== state) throw error;
    return instead();
  };
}

/** Says whether the database cannot answer at the moment, so that the request may be repeated. */
export function isDatabaseAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return AWAY.test(state);
  return chain(error).some((link) => {
    const { code, kind, syscall } = link as { code?: unknown; kind?: unknown; syscall?: unknown };
    const isSocketGone = code === "ENOENT" && syscall === "connect"; // any other missing file is not the database's
    return (
      isSocketGone || AWAY_CODES.has(String(code)) || AWAY_KINDS.has(String(kind)) || AWAY_TEXTS.test(String(link))
    );
  });
}

/** Says whether the disk of the database has no room for what was to be written. */
export function isDatabaseFull(error: unknown): boolean {
  return sqlState(error) === DISK_FULL;
}

/** A connection was refused before anything was sent by it. */
export function isRefused(error: Error): boolean {
  return REFUSED.has(String((error as { code?: unknown }).code));
}

function stateOf(link: object): string | undefined {
  const { originalCode, code } = link as { originalCode?: unknown; code?: unknown };
  const state = originalCode ?? code;
  return typeof state === "string" && SQLSTATE.test(state) ? state : undefined;
}

/** Lists the error and all that it wraps: `cause`, and the place where Prisma keeps the adapter's error. */
function chain(error: unknown): object[] {
  const links: object[] = [];
  let link = error;
  while (typeof link === "object" && link !== null && links.length < MAX_DEPTH) {
    links.push(link);
    const next = link as { cause?: unknown; meta?: { driverAdapterError?: unknown } };
    link = next.meta?.driverAdapterError ?? next.cause;
  }
  return links;
}
