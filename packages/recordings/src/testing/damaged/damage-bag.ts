import { type BagChunk, bagChunksOf, leaveOpen } from "../bag-chunks.ts";
import { makeBag } from "../make-bag.ts";
import { createDice, type Dice } from "../odd/dice.ts";
import { readBagMessages } from "../read-bag-messages.ts";
import { type DamagedFile, keyOf } from "./damaged-file.ts";
import { damages, flip } from "./damages.ts";

/** A bag that was damaged at random, or two that were joined before; often so that what introduces its connections is damaged. */
export async function damageBag(seed: number): Promise<DamagedFile> {
  const dice = createDice(seed);
  const originals = new Set<string>();
  const done: string[] = [];
  const made = await makeOne(dice, originals, 0);
  let { bytes } = made;
  if (dice.chance(0.15)) {
    bytes = Buffer.concat([bytes, (await makeOne(dice, originals, 1)).bytes]);
    done.push("joined");
  }
  if (dice.chance(0.2)) {
    bytes = flip(bytes, dice, { from: made.first.at, to: Math.min(made.first.end, bytes.byteLength) });
    done.push("flipped in the first chunk");
  }
  for (let left = dice.between(1, 3); left > 0; left -= 1) {
    const [name, damage] = dice.pick(damages);
    bytes = damage(bytes, dice);
    done.push(name);
  }
  return {
    fileName: "run.bag",
    seed,
    bytes,
    damages: done,
    originals,
    mostInvented: 4 * done.length,
    isUnchecked: true,
  };
}

async function makeOne(dice: Dice, originals: Set<string>, part: number): Promise<{ bytes: Buffer; first: BagChunk }> {
  const topic = dice.pick(["/odometry", "/log"]);
  const bag = await makeBag({
    topics: [
      { topic: "/imu", type: "sensor_msgs/Imu", rateHz: dice.between(5, 60) },
      { topic, type: "std_msgs/String", rateHz: dice.between(1, 20) },
    ],
    startNs: 1_767_323_045_000_000_000n + BigInt(part) * 10_000_000_000n,
    compression: dice.pick(["none", "lz4", "bz2"]),
    chunkBytes: dice.pick([500, 3000, 20_000]),
  });
  for (const { topic: name, logTimeNs, data } of await readBagMessages(bag))
    originals.add(keyOf(name, logTimeNs, data));
  const chunks = bagChunksOf(bag);
  const [first] = chunks as [BagChunk];
  if (dice.chance(0.7)) return { bytes: Buffer.from(bag), first };
  const last = dice.pick(chunks);
  return { bytes: leaveOpen(bag, last, dice.between(last.dataAt, last.end)), first };
}
