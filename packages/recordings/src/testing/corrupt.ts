import { seededRandom } from "./sensors.ts";

export interface CorruptFile {
  /** What was done, readable in a test's output. */
  name: string;
  fileName: string;
  bytes: Uint8Array;
}

/** Broken variants of a valid recording: what cards, cables, power cuts and enemies make of files. */
export function corrupt(bytes: Uint8Array, fileName: string): CorruptFile[] {
  const of = (name: string, variant: Uint8Array): CorruptFile => ({ name, fileName, bytes: variant });
  return [
    of("empty", new Uint8Array(0)),
    ...regions.map((part) => of(`cut off at ${part * 100} %`, bytes.slice(0, Math.floor(bytes.byteLength * part)))),
    ...[1, 8, 9, 37].map((count) => of(`last ${count} bytes missing`, bytes.slice(0, -count))),
    ...[3, 8, 20, 4100].map((count) => of(`only the first ${count} bytes`, bytes.slice(0, count))),
    ...regions.map((part) => of(`zeroed block at ${part * 100} %`, zeroAt(bytes, part))),
    of("zeroed start", bytes.with(0, 0).fill(0, 0, 512)),
    of("zeroed end", bytes.slice().fill(0, -512)),
    of("zeroed whole", new Uint8Array(bytes.byteLength)),
    ...Array.from({ length: 24 }, (_, seed) => of(`bit flips, seed ${seed}`, flipBits(bytes, seed))),
    ...regions.map((part) => of(`length beyond the file near ${part * 100} %`, inflateLength(bytes, part))),
    of("text instead", Buffer.from("this is a shopping list\n".repeat(100))),
    of("appended rubbish", Buffer.concat([bytes, Buffer.from("rubbish")])),
    of("twice in one file", Buffer.concat([bytes, bytes])),
    { name: "wrong extension", fileName: fileName.endsWith(".bag") ? "renamed.mcap" : "renamed.bag", bytes },
  ];
}

const regions = [0.001, 0.1, 0.35, 0.5, 0.75, 0.95, 0.999];

function zeroAt(bytes: Uint8Array, part: number): Uint8Array {
  const start = Math.floor(bytes.byteLength * part);
  return bytes.slice().fill(0, start, start + Math.max(64, Math.floor(bytes.byteLength / 50)));
}

function flipBits(bytes: Uint8Array, seed: number): Uint8Array {
  const random = seededRandom(seed);
  const flipped = bytes.slice();
  for (let left = 1 + Math.floor(random() * 8); left > 0; left -= 1) {
    const at = Math.floor(random() * flipped.byteLength);
    flipped[at]! ^= 1 << Math.floor(random() * 8);
  }
  return flipped;
}

/** Eight bytes that are an enormous little-endian number, wherever they hit. */
function inflateLength(bytes: Uint8Array, part: number): Uint8Array {
  const inflated = bytes.slice();
  const start = Math.min(Math.floor(bytes.byteLength * part), Math.max(0, bytes.byteLength - 8));
  inflated.set([0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0].slice(0, bytes.byteLength - start), start);
  return inflated;
}
