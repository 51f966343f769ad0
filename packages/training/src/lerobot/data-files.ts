import type { Picture } from "../align/read-pictures.ts";
import { TrainingError } from "../episodes/episode.ts";
import { type Column, type FileSink, ParquetFile, schemaOf } from "../parquet/parquet-file.ts";
import { columnOf, type FeatureInfo } from "./features.ts";
import type { PictureSampler } from "./sample-pictures.ts";
import { type SetColumn, toRows } from "./set-columns.ts";

/** Files in a folder. */
export const CHUNK_FILES = 1000;
const MIB = 1024 * 1024;
export const DATA_FILE_MIB = 100;
/** Pictures that are in memory before they are written. */
const GROUP_BYTES = 8 * MIB;
/** Values that are objects in memory before they are written. */
const GROUP_VALUES = 1_000_000;

/** A file of data, by the numbers in its path. */
export interface FilePlace {
  readonly chunk: number;
  readonly file: number;
}

interface Rows {
  readonly columns: readonly SetColumn[];
  /** The names of the columns with pictures. */
  readonly cameras: readonly string[];
  /** Yields the pictures of each row, one of each camera. */
  readonly pictures: AsyncIterator<readonly Picture[]>;
  readonly rowCount: number;
  readonly sampler: PictureSampler;
}

/** The files with the rows. An episode lies in one of them. */
export class DataFiles {
  readonly #open: (path: string) => FileSink;
  readonly #features: Readonly<Record<string, FeatureInfo>>;
  #number = -1;
  #file: ParquetFile | undefined;

  constructor(open: (path: string) => FileSink, features: Readonly<Record<string, FeatureInfo>>) {
    this.#open = open;
    this.#features = features;
  }

  /** Chooses the file of the next episode, which has about so many bytes. */
  async begin(bytes: number): Promise<FilePlace> {
    if (!this.#file || this.#file.sizeBytes + bytes > DATA_FILE_MIB * MIB) {
      await this.#file?.close();
      this.#number += 1;
      const schema = schemaOf(Object.entries(this.#features).map(([name, info]) => columnOf(name, info)));
      this.#file = new ParquetFile(this.#open(pathOf(this.#place())), { schema });
    }
    return this.#place();
  }

  #place(): FilePlace {
    return { chunk: Math.floor(this.#number / CHUNK_FILES), file: this.#number % CHUNK_FILES };
  }

  /** Writes the rows of an episode. */
  async write({ columns, cameras, pictures, rowCount, sampler }: Rows): Promise<void> {
    const width = columns.reduce((sum, column) => sum + column.width, 0);
    const mostRows = Math.max(1, Math.floor(GROUP_VALUES / width));
    let [from, bytes] = [0, 0];
    let held: (readonly Picture[])[] = [];
    for (let row = 0; row < rowCount; row += 1) {
      if (cameras.length > 0) {
        const { done, value } = await pictures.next();
        if (done) throw new TrainingError("the pictures ended before their rows");
        await sampler.see(row, value);
        held.push(value);
        bytes += value.reduce((sum, picture) => sum + picture.bytes.byteLength, 0);
      }
      if (bytes < GROUP_BYTES && row + 1 - from < mostRows && row + 1 < rowCount) continue;
      await this.#writeGroup({ columns, cameras }, held, { from, to: row + 1 });
      [from, bytes, held] = [row + 1, 0, []];
    }
  }

  async #writeGroup(
    { columns, cameras }: Pick<Rows, "columns" | "cameras">,
    held: readonly (readonly Picture[])[],
    { from, to }: { from: number; to: number },
  ): Promise<void> {
    const numbers = new Map(columns.map((column) => [column.name, column]));
    const all = Object.keys(this.#features).map((name): Column => {
      const column = numbers.get(name);
      if (column) return { name, data: toRows(column, from, to), ...(isFloat(column) && { encoding: "PLAIN" }) };
      const camera = cameras.indexOf(name);
      const data = held.map((row) => ({ bytes: row[camera]!.bytes, path: null }));
      return { name, data, codec: "UNCOMPRESSED", encoding: "PLAIN", statistics: false };
    });
    await this.#file!.writeGroup(all);
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

/** The dictionary of the writer takes −0 for 0. */
function isFloat({ dtype }: SetColumn): boolean {
  return dtype === "float32" || dtype === "float64";
}

function pathOf({ chunk, file }: FilePlace): string {
  return `data/chunk-${digits(chunk)}/file-${digits(file)}.parquet`;
}

function digits(number: number): string {
  return String(number).padStart(3, "0");
}
