import type { ScalarName, StructType, ValueType } from "@downlink/messages/describe-type";
import type { Message } from "@downlink/messages/read-mcap";
import type { Value } from "@downlink/messages/value";
import type { SchemaElement } from "hyparquet";
import { type Column, type FileSink, ParquetFile, schemaOf } from "../parquet/parquet-file.ts";
import { type Cell, dropEmpty, elementsOf, type StructCell, toStruct, weigh } from "./cells.ts";
import { guessType } from "./guess-type.ts";

const MIB = 1024 * 1024;

/** Bounds of the files, and of what waits for them in memory. Others give other bytes: then the version of the writer is raised. */
export interface TableLimits {
  readonly groupRows: number;
  /** By {@link weigh}, as all that follows but `fileBytes`. */
  readonly groupBytes: number;
  /** All tables together have at most so many. */
  readonly heldBytes: number;
  readonly fileBytes: number;
  /** Messages in JSON that are looked at for their fields. */
  readonly lookRows: number;
  readonly lookBytes: number;
}

export const tableLimits: TableLimits = {
  ...{ groupRows: 50_000, groupBytes: 16 * MIB, heldBytes: 32 * MIB },
  ...{ fileBytes: 512 * MIB, lookRows: 1000, lookBytes: 4 * MIB },
};

interface Row {
  readonly message: Pick<Message, "logTimeNs" | "publishTimeNs" | "sequence">;
  readonly episodeId: string;
  /** The message in JSON. */
  readonly text: string | null;
  /** Undefined until the fields of JSON are known. */
  cells: StructCell | null | undefined;
}

interface Options {
  /** Returns the path of a part, which is numbered from 0. */
  readonly pathOf: (part: number) => string;
  readonly open: (path: string) => FileSink;
  /** Undefined: the messages are JSON. */
  readonly type: StructType | undefined;
  /** Kept in each file. */
  readonly about: Readonly<Record<string, string>>;
  readonly limits: TableLimits;
}

/** The messages of a topic that have one schema, in one or more files with the same columns. */
export class Table {
  readonly #options: Options;
  readonly #isJson: boolean;
  #type: StructType | undefined;
  #rows: Row[] = [];
  #bytes = 0;
  #file: ParquetFile | undefined;
  #parts = 0;
  #groups = 0;

  constructor(options: Options) {
    this.#options = options;
    this.#isJson = options.type === undefined;
    this.#type = options.type && dropEmpty(options.type);
  }

  /** Bytes of the rows that wait in memory. */
  get heldBytes(): number {
    return this.#bytes;
  }

  /** Its columns but our own, once the fields of JSON are known. */
  get fields(): StructType {
    return this.#type ?? { fields: new Map() };
  }

  /** Adds a row. The value is undefined where the message cannot be read: then its fields are null. */
  async add({ logTimeNs, publishTimeNs, sequence, data }: Message, value: Value | undefined, episodeId: string) {
    const text = this.#isJson && value !== undefined ? new TextDecoder().decode(data) : null;
    const cells = this.#type && toStruct(this.#type, value);
    this.#rows.push({ message: { logTimeNs, publishTimeNs, sequence }, episodeId, text, cells });
    this.#bytes += ROW_BYTES + (text?.length ?? 0) + weigh(cells ?? null);
    const { groupRows, groupBytes, lookRows, lookBytes } = this.#options.limits;
    if (!this.#type && (this.#rows.length >= lookRows || this.#bytes >= lookBytes)) this.#guess();
    if (this.#rows.length >= groupRows || this.#bytes >= groupBytes) await this.flush();
  }

  #guess(): void {
    const parse = (row: Row) => (row.text === null ? null : (JSON.parse(row.text) as Value));
    const type = dropEmpty(guessType(this.#rows.values().map(parse)));
    for (const row of this.#rows) {
      row.cells = toStruct(type, parse(row));
      this.#bytes += weigh(row.cells);
    }
    this.#type = type;
  }

  /** Writes the rows that wait, as one row group. */
  async flush(): Promise<void> {
    if (this.#rows.length === 0) return;
    if (!this.#type) this.#guess();
    const columns = nameColumns(this.#type!, this.#isJson);
    this.#file ??= this.#begin(columns);
    const rows = this.#rows;
    await this.#file.writeGroup(columns.map((column) => toColumn(column, rows)));
    this.#rows = [];
    this.#bytes = 0;
    this.#groups += 1;
    const isFull = this.#file.sizeBytes >= this.#options.limits.fileBytes;
    if (isFull || this.#groups * columns.length >= MOST_CHUNKS) await this.#end();
  }

  #begin(columns: readonly TableColumn[]): ParquetFile {
    const { open, pathOf, about } = this.#options;
    const metadata = Object.entries(about).map(([key, value]) => ({ key, value }));
    const schema = schemaOf(columns.map(({ elements }) => elements));
    const file = new ParquetFile(open(pathOf(this.#parts)), { schema, metadata });
    this.#parts += 1;
    this.#groups = 0;
    return file;
  }

  async #end(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Writes what waits, and ends the file; later rows begin the next one. */
  async close(): Promise<void> {
    await this.flush();
    await this.#end();
  }
}

const ROW_BYTES = 100;
/** Facts of so many chunks of columns are in memory until their file ends. */
const MOST_CHUNKS = 100_000;

interface TableColumn {
  readonly name: string;
  readonly elements: readonly SchemaElement[];
  readonly read: (row: Row) => Cell;
  readonly type?: ValueType;
}

const timestamp = { type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "NANOS" } } as const;

function timeColumn(name: "log_time" | "publish_time", read: (row: Row) => bigint): TableColumn {
  const toTime = (row: Row) => (read(row) < 2n ** 63n ? read(row) : null);
  return { name, elements: [{ name, repetition_type: "OPTIONAL", ...timestamp }], read: toTime };
}

function leafColumn(name: string, type: ScalarName, read: (row: Row) => Cell): TableColumn {
  return { name, type, elements: elementsOf(name, type), read };
}

const ownColumns = [
  timeColumn("log_time", ({ message }) => message.logTimeNs),
  timeColumn("publish_time", ({ message }) => message.publishTimeNs),
  leafColumn("sequence", "uint32", ({ message }) => message.sequence),
  leafColumn("episode_id", "text", ({ episodeId }) => episodeId),
];
const jsonColumn = leafColumn("json", "any", ({ text }) => text);

/** A field with a name of our own columns gets underscores behind it. */
function nameColumns({ fields }: StructType, isJson: boolean): TableColumn[] {
  const columns = [...ownColumns, ...(isJson ? [jsonColumn] : [])];
  const taken = new Set([...columns.map(({ name }) => name), ...fields.keys()]);
  for (const [field, type] of fields) {
    let name = field;
    if (columns.some((column) => column.name === field)) while (taken.has(name)) name += "_";
    taken.add(name);
    columns.push({ name, type, elements: elementsOf(name, type), read: ({ cells }) => cells?.[field] ?? null });
  }
  return columns;
}

/** Bytes and JSON stay as they are: pictures do not become smaller, and their bounds would be whole values. */
function toColumn({ name, type, read }: TableColumn, rows: readonly Row[]): Column {
  const data = rows.map(read);
  if (type === "any") return { name, data, encoding: "PLAIN", statistics: false };
  if (type === "bytes") return { name, data, codec: "UNCOMPRESSED", encoding: "PLAIN", statistics: false };
  return { name, data, ...(type && hasFloat(type) && { encoding: "PLAIN" }) };
}

/** A dictionary of the writer has one entry for 0 and −0. */
function hasFloat(type: ValueType): boolean {
  if (typeof type === "string") return type.startsWith("float");
  return "list" in type ? hasFloat(type.list) : type.fields.values().some(hasFloat);
}
