import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** One object of a backup. */
export interface ObjectLine {
  readonly key: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** One note of a backup. */
export interface NoteLine {
  readonly key: string;
  readonly base64: string;
}

/** Makes a file with a line of JSON for each item. */
export function toLines(items: readonly object[]): AsyncIterable<Uint8Array> {
  return Readable.from([Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(""))]);
}

export async function* readLines<Line>(file: AsyncIterable<Uint8Array>): AsyncGenerator<Line, void> {
  const lines = createInterface({
    input: Readable.from(file, { objectMode: false }),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  for await (const line of lines) if (line !== "") yield JSON.parse(line) as Line;
}
