import { PartRefusedError, PartsMissingError } from "./blob-errors.ts";
import type { PartPlan, UploadPlan } from "./blob-store.ts";

/** Returns how many parts a plan has; an empty file has none. */
export function countParts(plan: UploadPlan): number {
  return Math.ceil(plan.sizeBytes / plan.partSizeBytes);
}

/** Throws a RangeError for an impossible plan, which is a bug, because the server makes the plans. */
export function checkPlan({ sizeBytes, partSizeBytes }: UploadPlan): void {
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0 || !Number.isSafeInteger(partSizeBytes) || partSizeBytes < 1)
    throw new RangeError(`no upload of ${sizeBytes} bytes in parts of ${partSizeBytes}`);
}

/** Returns the length of one part in bytes. Throws {@link PartRefusedError} for a number outside of the plan. */
export function partLength(plan: UploadPlan, number: number): number {
  const count = countParts(plan);
  if (!Number.isInteger(number) || number < 1 || number > count)
    throw new PartRefusedError(`there is no part ${number}; this upload has ${count}`);
  return Math.min(plan.partSizeBytes, plan.sizeBytes - (number - 1) * plan.partSizeBytes);
}

/** Throws {@link PartRefusedError} for a number outside of the plan or another length than the plan gives it. */
export function checkPart(plan: UploadPlan, part: PartPlan): void {
  const lengthBytes = partLength(plan, part.number);
  if (part.lengthBytes !== lengthBytes)
    throw new PartRefusedError(`part ${part.number} has ${lengthBytes} bytes, not ${part.lengthBytes}`);
}

/** Throws {@link PartsMissingError} unless `stated` are all parts of the plan and each is stored as stated. */
export function checkParts(plan: UploadPlan, stated: readonly PartPlan[], stored: readonly PartPlan[]): void {
  const count = countParts(plan);
  const [statedByNumber, storedByNumber] = [stated, stored].map(
    (parts) => new Map(parts.map((part) => [part.number, part])),
  );
  for (let number = 1; number <= count; number++) {
    const [expected, found] = [statedByNumber!.get(number), storedByNumber!.get(number)];
    if (!found) throw new PartsMissingError(`part ${number} of ${count} is not stored`);
    if (!expected) throw new PartsMissingError(`part ${number} of ${count} is not in the list`);
    if (found.digest !== expected.digest || found.lengthBytes !== expected.lengthBytes)
      throw new PartsMissingError(`part ${number} of ${count} is stored with other bytes than stated`);
  }
  if (stated.length !== count)
    throw new PartsMissingError(`${stated.length} parts are listed; this upload has ${count}`);
}
