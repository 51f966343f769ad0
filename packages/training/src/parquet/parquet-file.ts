import type { SchemaElement } from "hyparquet";
import { ByteWriter, type ColumnSource, ParquetWriter } from "hyparquet-writer";

/** Where the bytes of a file go, in their order. */
export interface FileSink {
  write(bytes: Uint8Array): Promise<void>;
  /** The file is whole. */
  close(): Promise<void>;
}

export type Column = ColumnSource;

interface Options {
  readonly schema: readonly SchemaElement[];
  readonly metadata?: readonly { readonly key: string; readonly value: string }[];
}

/** Writes a Parquet file, a row group at a time. A file with the same rows has the same bytes. */
export class ParquetFile {
  readonly #sink: FileSink;
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  readonly #schema: SchemaElement[];

  constructor(sink: FileSink, { schema, metadata = [] }: Options) {
    this.#sink = sink;
    const { length } = schema.filter(({ name }) => name !== "root");
    if (length === 0) throw new Error("a Parquet file needs a column");
    this.#schema = [...schema];
    this.#writer = new ParquetWriter({
      ...{ writer: this.#bytes, schema: this.#schema, createdBy: "downlink" },
      kvMetadata: [...metadata],
    });
  }

  /** The bytes that the file has so far. */
  get sizeBytes(): number {
    return this.#bytes.offset;
  }

  /** Writes one row group. All columns have the same number of values. */
  async writeGroup(columns: readonly Column[]): Promise<void> {
    const rowGroupSize = Math.max(1, columns[0]?.data.length ?? 0);
    await this.#writer.write({ columnData: [...columns], rowGroupSize });
    await this.#flush();
  }

  async close(): Promise<void> {
    this.#markJson();
    await this.#writer.finish();
    await this.#flush();
    await this.#sink.close();
  }

  /** DuckDB knows JSON by this type alone. It comes last, because with it the writer would take a text of JSON for a value to be written as JSON. */
  #markJson(): void {
    for (const [place, element] of this.#schema.entries())
      if (element.logical_type?.type === "JSON") this.#schema[place] = { ...element, converted_type: "JSON" };
  }

  /** The writer counts on in `offset`, and begins again at the front of its buffer. */
  async #flush(): Promise<void> {
    const bytes = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    await this.#sink.write(bytes);
  }
}

type Physical = NonNullable<SchemaElement["type"]>;

/** Returns the elements of a column with one value a row. */
export function scalarOf(name: string, type: Physical, isText = false): SchemaElement[] {
  return [{ name, type, repetition_type: "OPTIONAL", ...(isText && { converted_type: "UTF8" as const }) }];
}

/** Returns the elements of a column whose rows are lists of what `element` says, which must have the name `element`. */
export function listOf(name: string, element: readonly SchemaElement[]): SchemaElement[] {
  return [
    { name, repetition_type: "OPTIONAL", num_children: 1, converted_type: "LIST" },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    ...element,
  ];
}

/** Returns the elements of a whole file out of those of its columns. */
export function schemaOf(columns: readonly (readonly SchemaElement[])[]): SchemaElement[] {
  return [{ name: "root", num_children: columns.length }, ...columns.flat()];
}
