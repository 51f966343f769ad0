import type { Dice } from "../odd/dice.ts";

/** Changes the bytes of a file as a failing card, a crash, a broken copy or a flipped bit does. It may change the given bytes. */
export type Damage = (bytes: Buffer, dice: Dice) => Buffer;

export const damages: readonly (readonly [string, Damage])[] = [
  ["cut", (bytes, dice) => Buffer.from(bytes.subarray(0, dice.below(bytes.byteLength)))],
  [
    "beginning zeroed",
    (bytes, dice) => bytes.fill(0, 0, Math.min(bytes.byteLength, dice.pick([1, 13, 512, 4096, 5000]))),
  ],
  ["zeroed", (bytes, dice) => fillRange(bytes, dice, () => 0)],
  ["overwritten", (bytes, dice) => fillRange(bytes, dice, () => dice.below(256))],
  ["zeros behind", (bytes, dice) => Buffer.concat([bytes, Buffer.alloc(dice.between(1, 9000))])],
  ["flipped", (bytes, dice) => flip(bytes, dice, { from: 0, to: bytes.byteLength })],
  ["bytes missing", takeOut],
  ["blocks swapped", swapBlocks],
];

function fillRange(bytes: Buffer, dice: Dice, byteOf: () => number): Buffer {
  const from = dice.below(bytes.byteLength + 1);
  const to = Math.min(bytes.byteLength, from + dice.pick([1, 50, 512, 4096]));
  for (let at = from; at < to; at += 1) bytes[at] = byteOf();
  return bytes;
}

/** Flips one to three bits of a range. */
export function flip(bytes: Buffer, dice: Dice, { from, to }: { from: number; to: number }): Buffer {
  for (let left = dice.between(1, 3); left > 0 && to > from; left -= 1)
    bytes[from + dice.below(to - from)]! ^= 1 << dice.below(8);
  return bytes;
}

function takeOut(bytes: Buffer, dice: Dice): Buffer {
  const from = dice.below(bytes.byteLength + 1);
  const missingBytes = dice.pick([1, 4, 12, 96, 500, 512, 4096]);
  return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + missingBytes)]);
}

/** Exchanges two blocks of a file system or of a copy. */
function swapBlocks(bytes: Buffer, dice: Dice): Buffer {
  const blockBytes = dice.pick([64, 512, 4096]);
  const count = Math.floor(bytes.byteLength / blockBytes);
  if (count < 2) return bytes;
  const [a, b] = [dice.below(count) * blockBytes, dice.below(count) * blockBytes];
  const first = Buffer.from(bytes.subarray(a, a + blockBytes));
  bytes.copy(bytes, a, b, b + blockBytes);
  bytes.set(first, b);
  return bytes;
}
