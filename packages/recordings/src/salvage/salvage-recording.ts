import { detectFormat } from "../detect-format.ts";
import { exportMcap } from "../export/export-mcap.ts";
import { createRewritePool } from "../export/rewrite/rewrite-pool.ts";
import { createReadContext } from "../read-context.ts";
import { RecordingFault } from "../reasons.ts";
import type { RandomAccessSource } from "../source.ts";
import type { MetadataRecord, Salvage } from "../summary.ts";
import { findSalvage } from "./find-salvage.ts";

export interface SalvageOptions {
  /** Its extension matters; also names the source in what is told of it. */
  fileName: string;
  /** What the new file is to say of where it comes from. */
  describe: (salvage: Salvage) => MetadataRecord;
  signal?: AbortSignal;
}

/** Not one message can be read. */
export class SalvageEmpty extends Error {
  constructor(fileName: string) {
    super(`no message of ${fileName} can be read`);
    this.name = "SalvageEmpty";
  }
}

/**
 * What is readable of a recording that is not whole, as an indexed MCAP, piece by piece, in bounded memory and with one
 * thread beside. Damaged chunks and attachments are left out and told of, as in `exportMcap`. The recording's key stays with the original:
 * a salvage is not that recording. Throws {@link SalvageEmpty}, and what reading throws.
 */
export async function* salvageRecording(
  source: RandomAccessSource,
  { fileName, describe, signal }: SalvageOptions,
): AsyncGenerator<Uint8Array> {
  const salvage = await readSalvage(source, { fileName, signal });
  const { startNs, endNs } = salvage;
  if (startNs === undefined || endNs === undefined) throw new SalvageEmpty(fileName);
  await using pool = createRewritePool({ threadCount: 1 });
  const shared = { read: source.read.bind(source), sizeBytes: source.sizeBytes, [Symbol.asyncDispose]: async () => {} };
  yield* exportMcap([{ fileName, startNs, endNs, isSalvage: true, open: async () => shared }], {
    compression: "lz4",
    includeAttachments: true,
    memoryBudgetBytes: 16 * 1024 * 1024,
    metadata: [...identityWithoutKey(salvage), describe(salvage)],
    pool,
    signal,
  });
}

/** Throws {@link SalvageEmpty} where the file is no recording at all. */
async function readSalvage(
  source: RandomAccessSource,
  { fileName, signal }: Pick<SalvageOptions, "fileName" | "signal">,
): Promise<Salvage> {
  const context = createReadContext(source, { signal });
  try {
    return await findSalvage(await detectFormat(source, fileName), context);
  } catch (error) {
    if (error instanceof RecordingFault) throw new SalvageEmpty(fileName);
    throw error;
  }
}

/** The last record of the name counts. */
function identityWithoutKey({ identity }: Salvage): MetadataRecord[] {
  const { key, ...rest } = identity;
  return key === undefined ? [] : [{ name: "downlink", metadata: rest as Record<string, string> }];
}
