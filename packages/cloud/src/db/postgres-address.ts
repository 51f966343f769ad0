import pg from "pg";

export const ADDRESS_EXAMPLE = "postgresql://user:password@host:5432/database";

/** Returns what is wrong with the address of a Postgres, without any part of it, because it may hold a password; undefined if it is good. */
export function findAddressFault(text: string): string | undefined {
  try {
    if (/^postgres(ql)?:\/\/./.test(text)) {
      const { port } = new pg.Client({ connectionString: text }); // it reads the address, and connects to nothing yet
      if (port > 0) return undefined;
    }
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (path !== undefined) return `names the file ${path}, which cannot be read (${code})`;
  }
  return `is malformed: it must be an address such as ${ADDRESS_EXAMPLE}; in a password write %23 for #, %2F for /, %3F for ?, %40 for @ and %25 for %`;
}
