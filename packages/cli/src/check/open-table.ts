import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, parquetSchema } from "hyparquet";

/** A file in Parquet. */
export interface Table {
  readonly columns: ReadonlySet<string>;
  /** The numbers of rows in its groups, which are read one at a time. */
  readonly groups: readonly number[];
  /** The facts that its writer added, by their keys. */
  readonly facts: ReadonlyMap<string, string | undefined>;
  /** Reads rows of numbers, all or those from a place to another. NaN stands for what is no number. Throws {@link TableError}. */
  read<Name extends string>(columns: readonly Name[], from?: number, to?: number): Promise<Record<Name, number>[]>;
}

/** A file that is not there or that is no whole Parquet. The message goes on behind the name of the file. */
export class TableError extends Error {
  override readonly name = "TableError";
}

/** Throws {@link TableError}. */
export async function openTable(path: string): Promise<Table> {
  const file = await refuse(asyncBufferFromFile(path));
  const metadata = await refuse(parquetMetadataAsync(file));
  return {
    columns: new Set(parquetSchema(metadata).children.map(({ element }) => element.name)),
    groups: metadata.row_groups.map((group) => Number(group.num_rows)),
    facts: new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value])),
    async read<Name extends string>(columns: readonly Name[], rowStart = 0, rowEnd = Number(metadata.num_rows)) {
      const wanted = { file, metadata, columns: [...columns], rowStart, rowEnd };
      const rows = await refuse(parquetReadObjects(wanted));
      return rows.map(
        (row) => Object.fromEntries(columns.map((name) => [name, toNumber(row[name])])) as Record<Name, number>,
      );
    },
  };
}

function toNumber(value: unknown): number {
  return typeof value === "bigint" || typeof value === "number" ? Number(value) : Number.NaN;
}

/** The library throws errors of many kinds for bytes that are no Parquet. */
async function refuse<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw new TableError("is missing");
    throw new TableError(`cannot be read: ${error.message}`);
  });
}
