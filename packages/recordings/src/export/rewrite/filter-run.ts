import { type Decompressor, isPlain } from "../../codecs/decompress.ts";
import { freeMemory } from "../../memory/free-memory.ts";
import { type Copying, copyInOrder } from "./copy-in-order.ts";
import { createRunningSum } from "./running-sum.ts";
import { copySelected } from "./select-messages.ts";
import { ContentChanged, loadRun, readStored, type Scratch, type StoredBytes } from "./stored-run.ts";

interface Filtering extends Copying {
  from: StoredBytes;
  means: { decompress: Decompressor; scratch: Scratch };
}

/** Copies the selected messages of a run into chunks. Throws {@link ContentChanged}; what was copied until then is worth nothing. */
export async function filterRun(filtering: Filtering): Promise<void> {
  const { run, from, means, selection } = filtering;
  const isSummedOnce = run.compression === "" && run.format === "mcap" && run.isInOrder && selection.keepsIds;
  if (isSummedOnce) return filterPlain(filtering);
  const loaded = await loadRun(run, from, means);
  copySelected(loaded, filtering);
  if (!isPlain(run.compression)) freeMemory(loaded);
}

/**
 * Uncompressed messages are compared with their checksum while they are copied. What is not as it was may look like anything until then:
 * whatever it makes fail, it is the checksum that tells why.
 */
function filterPlain(filtering: Filtering): void {
  const { run, from, means } = filtering;
  const record = readStored(from, { offset: run.offset, length: run.recordBytes }, means.scratch);
  const sum = createRunningSum(record, run.dataStart);
  const requireSame = (): void => {
    if (sum.end() !== run.checksum) throw new ContentChanged(run.place);
  };
  try {
    copyInOrder(record.subarray(run.dataStart, run.dataStart + run.storedBytes), { ...filtering, sum });
  } catch (error) {
    requireSame();
    throw error;
  }
  requireSame();
}
