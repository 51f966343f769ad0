import { createHash } from "node:crypto";
import { DigestMismatch, PartConflict } from "./blob-errors.ts";
import type { PartPlan } from "./blob-store.ts";
import { filesOf } from "./file-layout.ts";
import { openPartial } from "./key-files.ts";
import { openPartBuffer, type PartBuffer } from "./part-buffer.ts";
import { openJournal } from "./part-journal.ts";
import type { PartMemory } from "./part-memory.ts";
import { checkPart } from "./part-plan.ts";

/** BlobStore.receivePart. */
export async function receivePart(
  store: { root: string; memory: PartMemory },
  key: string,
  sent: { part: PartPlan; body: AsyncIterable<Uint8Array> },
): Promise<void> {
  const { part, body } = sent;
  const files = filesOf(store.root, key);
  await using journal = await openJournal(key, files);
  const { plan, taken } = await journal.read(part.number);
  checkPart(plan, part);
  refuseOther(part, taken.get(part.number));
  await using buffer = await openPartBuffer(files, part.lengthBytes, store.memory);
  await fillVerified(buffer, part, body);
  if ((await journal.readDurable(part.number)).kept.has(part.number)) return;
  // Of all that take this number now, in any process, the first in the journal decides which bytes it stands for.
  await journal.recordTaken(part);
  refuseOther(part, (await journal.read(part.number)).taken.get(part.number));
  await using partial = await openPartial(key, files);
  await buffer.writeTo(partial, (part.number - 1) * plan.partSizeBytes);
  await partial.datasync();
  await journal.recordKept(part.number);
}

async function fillVerified(buffer: PartBuffer, part: PartPlan, body: AsyncIterable<Uint8Array>): Promise<void> {
  const md5 = createHash("md5");
  let lengthBytes = 0;
  for await (const piece of body) {
    if (lengthBytes + piece.byteLength > part.lengthBytes)
      throw new DigestMismatch(`part ${part.number} is longer than the ${part.lengthBytes} bytes announced`);
    md5.update(piece);
    await buffer.add(piece, lengthBytes);
    lengthBytes += piece.byteLength;
  }
  if (lengthBytes < part.lengthBytes)
    throw new DigestMismatch(`part ${part.number} ended after ${lengthBytes} of ${part.lengthBytes} bytes`);
  if (md5.digest("base64") !== part.md5)
    throw new DigestMismatch(`the bytes of part ${part.number} do not have the MD5 announced`);
}

function refuseOther(part: PartPlan, taken: PartPlan | undefined): void {
  if (taken && taken.md5 !== part.md5) throw new PartConflict(part.number);
}
