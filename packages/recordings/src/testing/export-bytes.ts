import { exportBag } from "../export/export-bag.ts";
import { exportMcap } from "../export/export-mcap.ts";
import type { BagExportOptions, ExportSource, McapExportOptions } from "../export/plan/export-options.ts";
import { indexRecording } from "../inspect/index-recording.ts";
import { bytesSource, type RandomAccessSource } from "../sources/source.ts";
import { collect } from "./collect.ts";

/** A source that may hold messages of any time. */
export function exportSource(
  source: RandomAccessSource | Uint8Array,
  about: Partial<ExportSource> = {},
): ExportSource & { openings: number; isOpen: boolean } {
  const reader = source instanceof Uint8Array ? bytesSource(source) : source;
  return {
    fileName: "a.mcap",
    startNs: 0n,
    endNs: 2n ** 63n - 1n,
    openings: 0,
    isOpen: false,
    async open() {
      this.openings += 1;
      this.isOpen = true;
      return {
        sizeBytes: reader.sizeBytes,
        read: (offset, length) => reader.read(offset, length),
        [Symbol.asyncDispose]: async () => {
          this.isOpen = false;
        },
      };
    },
    ...about,
  };
}

/** The same with the index that was made of it. */
export async function indexedSource(
  source: RandomAccessSource | Uint8Array,
  about: Partial<ExportSource> = {},
): Promise<ReturnType<typeof exportSource>> {
  const reader = source instanceof Uint8Array ? bytesSource(source) : source;
  const index = bytesSource(await makeIndex(reader, about));
  const openIndex = async () => ({ ...index, [Symbol.asyncDispose]: async () => {} });
  return exportSource(reader, { ...about, openIndex });
}

export async function makeIndex(
  source: RandomAccessSource,
  { fileName = "a.mcap", isSalvage = false }: Pick<Partial<ExportSource>, "fileName" | "isSalvage"> = {},
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const write = async (piece: Uint8Array): Promise<void> => void pieces.push(piece);
  const indexed = await indexRecording(source, { fileName, isSalvage, write });
  if ("reason" in indexed) throw new Error(`${fileName} cannot be indexed: ${indexed.reason.text}`);
  return Buffer.concat(pieces);
}

/** The whole export. */
export function exportBytes(
  sources: RandomAccessSource | Uint8Array | readonly ExportSource[],
  options: Partial<McapExportOptions> & { fileName?: string } = {},
): Promise<Uint8Array> {
  const { fileName = "a.mcap", ...rest } = options;
  const list =
    "length" in sources && !(sources instanceof Uint8Array) ? sources : [exportSource(sources, { fileName })];
  return collect(exportMcap(list, { compression: "zstd", ...rest }));
}

export function exportBagBytes(
  sources: readonly (Uint8Array | ExportSource)[],
  options: Partial<BagExportOptions> = {},
): Promise<Uint8Array> {
  const list = sources.map((source) =>
    source instanceof Uint8Array ? exportSource(source, { fileName: "a.bag" }) : source,
  );
  return collect(exportBag(list, { compression: "lz4", ...options }));
}
