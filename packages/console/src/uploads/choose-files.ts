/** The endings of recordings, also of compressed ones. */
const RECORDING = /\.(mcap|bag)(\.(zst|lz4|gz|bz2))?$/i;

interface FileFacts {
  readonly name: string;
  readonly size: number;
}

/** Returns why a file is left out, as a sentence; undefined for a recording. */
export function whyLeftOut({ name, size }: FileFacts): string | undefined {
  if (!RECORDING.test(name)) return "is left out: it is no .mcap and no .bag.";
  if (size === 0) return "is left out: it is empty.";
  return undefined;
}
