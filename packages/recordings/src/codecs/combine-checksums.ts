/**
 * Computes the CRC-32 of two texts that stand one behind the other from the CRC-32 of each. `lengthBytes` is the length of the second. A
 * checksum that was computed to check a part need not be computed again for the whole. CRC-32 is linear over GF(2): appending bytes
 * multiplies by a power of x.
 */
export function combineChecksums(first: number, second: number, lengthBytes: number): number {
  return (multiply(powerOfX(lengthBytes), first) ^ second) >>> 0;
}

/** The polynomial is reflected: bit 31 stands for 1. */
const POLYNOMIAL = 0xedb88320;

function multiply(a: number, b: number): number {
  let product = 0;
  let left = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if (a & bit) product ^= left;
    left = left & 1 ? (left >>> 1) ^ POLYNOMIAL : left >>> 1;
  }
  return product;
}

/** x to the power of 8 times 2^n, for each n. */
const powers = (() => {
  const found = [0x00800000];
  for (let n = 1; n < 53; n += 1) found.push(multiply(found[n - 1]!, found[n - 1]!));
  return found;
})();

function powerOfX(lengthBytes: number): number {
  let power = 0x80000000;
  for (let left = lengthBytes, n = 0; left > 0; left = Math.floor(left / 2), n += 1) {
    if (left % 2 === 1) power = multiply(powers[n]!, power);
  }
  return power;
}
