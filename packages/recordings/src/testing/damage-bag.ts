import { bagChunksOf, leaveOpen } from "./bag-chunks.ts";
import { makeBag } from "./make-bag.ts";
import { createDice, type Dice } from "./odd/dice.ts";
import { readBagMessages } from "./read-bag-messages.ts";
import { keyOf } from "./slow-bag-reader.ts";

/** A bag that was damaged at random: cut, zeroed, overwritten, flipped, never closed, or joined with another. */
export interface DamagedBag {
  readonly seed: number;
  readonly bytes: Uint8Array;
  /** What was done, one after another. */
  readonly damages: readonly string[];
  /** The messages of the sound bags. */
  readonly originals: ReadonlySet<string>;
}

export async function damageBag(seed: number): Promise<DamagedBag> {
  const dice = createDice(seed);
  const originals = new Set<string>();
  const damages: string[] = [];
  let bytes = await makeOne(dice, originals, 0);
  if (dice.chance(0.15)) {
    bytes = Buffer.concat([bytes, await makeOne(dice, originals, 1)]);
    damages.push("joined");
  }
  for (let left = dice.between(1, 3); left > 0; left -= 1) {
    const [name, change] = dice.pick(changes);
    bytes = change(bytes, dice);
    damages.push(name);
  }
  return { seed, bytes, damages, originals };
}

async function makeOne(dice: Dice, originals: Set<string>, part: number): Promise<Buffer> {
  const topic = dice.pick(["/odometry", "/log"]);
  const bag = await makeBag({
    topics: [
      { topic: "/imu", type: "sensor_msgs/Imu", rateHz: dice.between(5, 60) },
      { topic, type: "std_msgs/String", rateHz: dice.between(1, 20) },
    ],
    startNs: 1_767_323_045_000_000_000n + BigInt(part) * 10_000_000_000n,
    compression: dice.pick(["none", "lz4"]),
    chunkBytes: dice.pick([500, 3000, 20_000]),
  });
  for (const { topic: name, logTimeNs, data } of await readBagMessages(bag))
    originals.add(keyOf(name, logTimeNs, data));
  if (dice.chance(0.7)) return Buffer.from(bag);
  const chunks = bagChunksOf(bag);
  const last = dice.pick(chunks);
  return leaveOpen(bag, last, dice.between(last.dataAt, last.end));
}

const changes: readonly (readonly [string, (bytes: Buffer, dice: Dice) => Buffer])[] = [
  ["cut", (bytes, dice) => Buffer.from(bytes.subarray(0, dice.below(bytes.byteLength)))],
  [
    "beginning zeroed",
    (bytes, dice) => bytes.fill(0, 0, Math.min(bytes.byteLength, dice.pick([1, 13, 512, 4096, 5000]))),
  ],
  ["zeroed", (bytes, dice) => fillRange(bytes, dice, () => 0)],
  ["overwritten", (bytes, dice) => fillRange(bytes, dice, () => dice.below(256))],
  ["zeros behind", (bytes, dice) => Buffer.concat([bytes, Buffer.alloc(dice.between(1, 9000))])],
  ["flipped", flipSome],
];

function fillRange(bytes: Buffer, dice: Dice, byteOf: () => number): Buffer {
  const from = dice.below(bytes.byteLength + 1);
  const to = Math.min(bytes.byteLength, from + dice.pick([1, 50, 512, 4096]));
  for (let at = from; at < to; at += 1) bytes[at] = byteOf();
  return bytes;
}

function flipSome(bytes: Buffer, dice: Dice): Buffer {
  for (let left = dice.between(1, 3); left > 0 && bytes.byteLength > 0; left -= 1)
    bytes[dice.below(bytes.byteLength)]! ^= 1 << dice.below(8);
  return bytes;
}
