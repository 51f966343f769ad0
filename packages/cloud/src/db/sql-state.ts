export const UNIQUE_VIOLATION = "23505";
export const FOREIGN_KEY_VIOLATION = "23503";

const SQLSTATE = /^(?:[0-5][0-9A-Z]|F0|HV|P0|XX)[0-9A-Z]{3}$/;
const MAX_DEPTH = 6;
const AWAY = /^(08|57P|53)/; // connection lost or refused, shutting down, out of connections
/** What pg and its pool say without a code: a connection that was lost, is closed, or did not come free in time. */
const AWAY_TEXTS = /Connection terminated|is not queryable|timeout exceeded when trying to connect/;
const AWAY_CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOENT",
  "P1001",
  "P1008",
  "P1017",
  "P2024",
  "P2028",
]);

/** The SQLSTATE of an error of Prisma or pg, wherever it stands; undefined where the error came from elsewhere. */
export function sqlState(error: unknown): string | undefined {
  return chain(error)
    .map(stateOf)
    .find((state) => state !== undefined);
}

/** For a `catch`: what happens instead where another row has the name or key. */
export function onUniqueViolation<T>(instead: () => T): (error: unknown) => T {
  return onState(UNIQUE_VIOLATION, instead);
}

/** For a `catch`: what happens instead where the row is in use, or what it refers to is gone. */
export function onForeignKeyViolation<T>(instead: () => T): (error: unknown) => T {
  return onState(FOREIGN_KEY_VIOLATION, instead);
}

function onState<T>(state: string, instead: () => T) {
  return (error: unknown): T => {
    if (sqlState(error) !== state) throw error;
    return instead();
  };
}

/** The database cannot answer at the moment: the request may be repeated. */
export function isDatabaseAway(error: unknown): boolean {
  const state = sqlState(error);
  if (state !== undefined) return AWAY.test(state);
  return chain(error).some(
    (link) => AWAY_CODES.has(String((link as { code?: unknown }).code)) || AWAY_TEXTS.test(String(link)),
  );
}

function stateOf(link: object): string | undefined {
  const { originalCode, code } = link as { originalCode?: unknown; code?: unknown };
  const state = originalCode ?? code;
  return typeof state === "string" && SQLSTATE.test(state) ? state : undefined;
}

/** The error and all that it wraps: `cause`, and where Prisma keeps the adapter's. */
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
