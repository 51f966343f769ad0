/** The daemon must not use this state directory; the message says why and what to do. It ends `run` with code 1. */
export class StateRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "StateRefusedError";
  }
}

const sqliteCodes = { readonly: 8, io: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 } as const;

/** The disk is full, read-only or failing, and may work again later. */
export function isStateUnwritable(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code !== undefined)
    return [sqliteCodes.readonly, sqliteCodes.io, sqliteCodes.full, sqliteCodes.cannotOpen].some(
      (known) => known === code,
    );
  return ["ENOSPC", "EDQUOT", "EROFS", "EIO"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

export function isStateCorrupt(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === sqliteCodes.corrupt || code === sqliteCodes.notADatabase;
}

/** Returns the primary result code; extended codes carry more in the higher bits. */
function sqliteCode(error: unknown): number | undefined {
  const { code, errcode } = (error ?? {}) as { code?: string; errcode?: number };
  return code === "ERR_SQLITE_ERROR" && errcode !== undefined ? errcode & 0xff : undefined;
}
