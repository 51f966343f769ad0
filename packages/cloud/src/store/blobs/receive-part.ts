// A part is verified before it is written where it counts, and acknowledged after it is durable: body → digest and
// length → `take` in the journal → write at its offset → fdatasync → `kept` in the journal → fdatasync. A crash at
// any step loses only what was not acknowledged.

import { PartConflictError } from "./blob-errors.ts";
import type { PartPlan } from "./blob-store.ts";
import { filesOf, type KeyFiles } from "./file-layout.ts";
import { fillVerified, type KeepBeginning } from "./fill-verified.ts";
import { openPartial } from "./key-files.ts";
import { openPartBuffer, type PartBuffer } from "./part-buffer.ts";
import { openJournal, type PartJournal } from "./part-journal.ts";
import type { PartMemory } from "./part-memory.ts";
import { checkPart } from "./part-plan.ts";

/** Implements BlobStore.receivePart. */
export async function receivePart(
  store: { root: string; memory: PartMemory },
  key: string,
  sent: { part: PartPlan; body: AsyncIterable<Uint8Array>; keep: KeepBeginning },
): Promise<void> {
  const { part, body, keep } = sent;
  const files = filesOf(store.root, key);
  await using journal = await openJournal(key, files);
  const { plan, taken } = await journal.read(part.number);
  checkPart(plan, part);
  refuseOther(part, taken.get(part.number));
  await using buffer = await openPartBuffer(files, part.lengthBytes, store.memory);
  await fillVerified(buffer, { ...part, partNumber: part.number, name: `part ${part.number}`, keep }, body);
  await keepPart({ key, files, journal }, part, buffer);
}

interface OpenUpload {
  readonly key: string;
  readonly files: KeyFiles;
  readonly journal: PartJournal;
}

/** Writes verified bytes to their place, once, and makes them durable. Throws {@link PartConflictError}. */
export async function keepPart(
  { key, files, journal }: OpenUpload,
  part: PartPlan,
  bytes: Pick<PartBuffer, "writeTo">,
): Promise<void> {
  const { plan, kept } = await journal.readDurable(part.number);
  if (kept.has(part.number)) return;
  // If several calls take this number now, in any process, the first one in the journal decides which bytes the number stands for.
  await journal.recordTaken(part);
  refuseOther(part, (await journal.read(part.number)).taken.get(part.number));
  await using partial = await openPartial(key, files);
  await bytes.writeTo(partial, (part.number - 1) * plan.partSizeBytes);
  await partial.datasync();
  await journal.recordKept(part.number);
}

/** Only one content is ever taken under a number. */
export function refuseOther(part: PartPlan, taken: PartPlan | undefined): void {
  if (taken && taken.digest !== part.digest) throw new PartConflictError(part.number);
}
