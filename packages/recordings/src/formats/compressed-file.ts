/** A compression that tools put around a whole file. */
export interface FileCompression {
  readonly name: string;
  /** The command that opens such a file, as a shell takes it. */
  command(from: string, to: string): string;
}

interface Known extends FileCompression {
  readonly magic: readonly number[];
  readonly endings: readonly string[];
}

const known: readonly Known[] = [
  {
    name: "zstd",
    magic: [0x28, 0xb5, 0x2f, 0xfd],
    endings: [".zst", ".zstd"],
    command: (from, to) => `zstd -d ${from} -o ${to}`,
  },
  { name: "gzip", magic: [0x1f, 0x8b, 0x08], endings: [".gz"], command: (from, to) => `gzip -dc ${from} > ${to}` },
  {
    name: "bzip2",
    magic: [0x42, 0x5a, 0x68],
    endings: [".bz2"],
    command: (from, to) => `bzip2 -dc ${from} > ${to}`,
  },
  { name: "lz4", magic: [0x04, 0x22, 0x4d, 0x18], endings: [".lz4"], command: (from, to) => `lz4 -d ${from} ${to}` },
  {
    name: "xz",
    magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00],
    endings: [".xz"],
    command: (from, to) => `xz -dc ${from} > ${to}`,
  },
];

const allEndings = known.flatMap(({ endings }) => endings);

/** Answers how a file is compressed as a whole, by its first bytes; undefined if it is not. Six bytes are enough. */
export function fileCompressionOf(head: Uint8Array): FileCompression | undefined {
  return known.find(({ magic }) => magic.every((byte, index) => head[index] === byte));
}

/** Answers a file's name without the ending of such a compression; undefined if it has none. */
export function nameWithoutCompression(fileName: string): string | undefined {
  const lower = fileName.toLowerCase();
  const ending = allEndings.find((each) => lower.endsWith(each));
  return ending && fileName.slice(0, -ending.length);
}
