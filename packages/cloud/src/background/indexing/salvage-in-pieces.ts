// A salvage has a thread of its own, never a used one: if the memory of a used thread were full, the pieces that were passed on already
// could not be made again in another thread. The next piece is made when the store has taken the last one.

import {
  ExportError,
  type HoldMemory,
  type RandomAccessSource,
  RecordingError,
  type Salvage,
  SalvageEmptyError,
  salvageRecording,
} from "@downlink/recordings";
import type { Refusal } from "./judge-file.ts";
import type { SalvageInput } from "./thread-messages.ts";

/** Yields what is readable of a file as a new one, piece by piece. Returns why that is impossible, if that is the fault of the file. */
export async function salvageInPieces(
  source: RandomAccessSource,
  { fileName, record }: SalvageInput,
  { give, hold }: { give: (piece: Uint8Array) => Promise<void>; hold: HoldMemory },
): Promise<Refusal | undefined> {
  const describe = (salvage: Salvage) => ({ name: record.name, metadata: { ...record.facts, ...amountsOf(salvage) } });
  try {
    for await (const piece of salvageRecording(source, { fileName, describe, hold })) await give(piece);
    return undefined;
  } catch (error) {
    const refusal = toRefusal(error, fileName);
    if (refusal) return refusal;
    throw error;
  }
}

function amountsOf({ readableBytes, lostBytes, messageCount, damage }: Salvage): Record<string, string> {
  const counts = { readableBytes: `${readableBytes}`, lostBytes: `${lostBytes}`, messageCount: `${messageCount}` };
  return { ...counts, ...(damage && { damage: JSON.stringify(damage) }) };
}

function toRefusal(error: unknown, fileName: string): Refusal | undefined {
  if (error instanceof SalvageEmptyError) {
    const text = `not one message of "${fileName}" can be read, so there is nothing to salvage`;
    return { code: "SalvageEmpty", text };
  }
  if (error instanceof ExportError) return { code: error.code, text: error.message };
  return error instanceof RecordingError ? error.reason : undefined;
}
