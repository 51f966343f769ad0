const BLOCK_BYTES = 512;

export interface TarEntry {
  /** At most 100 bytes. */
  readonly name: string;
  readonly text: string;
}

/** Makes a tar archive (POSIX ustar) of small text files that only their owner may read. */
export function makeTar(entries: readonly TarEntry[], modifiedMs: number): Buffer {
  const blocks = entries.flatMap(({ name, text }) => {
    const data = Buffer.from(text);
    const padding = Buffer.alloc((BLOCK_BYTES - (data.length % BLOCK_BYTES)) % BLOCK_BYTES);
    return [makeHeader(name, data.length, modifiedMs), data, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function makeHeader(name: string, sizeBytes: number, modifiedMs: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  header.write(name, 0, 100);
  header.write(octal(0o600, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(sizeBytes, 11), 124);
  header.write(octal(Math.floor(modifiedMs / 1000), 11), 136);
  header.write(" ".repeat(8), 148);
  header.write("0", 156);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}
