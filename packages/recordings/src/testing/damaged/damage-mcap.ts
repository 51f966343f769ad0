import { createDice } from "../odd/dice.ts";
import { buildMcap } from "./build-mcap.ts";
import { type DamagedFile, keyOf } from "./damaged-file.ts";
import { damages, flip } from "./damages.ts";

/** An MCAP file that was damaged at random; often so that what introduces its channels is damaged. */
export function damageMcap(seed: number): DamagedFile {
  const dice = createDice(seed);
  const built = buildMcap(dice);
  const done: string[] = [];
  let { bytes } = built;
  if (dice.chance(0.3)) {
    const { contentAt, end } = built.chunks[0]!;
    bytes = flip(bytes, dice, { from: contentAt, to: end });
    done.push("flipped in the first chunk");
  }
  for (let left = dice.between(done.length === 0 ? 1 : 0, 2); left > 0; left -= 1) {
    const [name, damage] = dice.pick(damages);
    bytes = damage(bytes, dice);
    done.push(name);
  }
  const originals = new Set(built.messages.map(({ topic, logTimeNs, data }) => keyOf(topic, logTimeNs, data)));
  const { isUnchecked, isPacked } = built;
  const mostInvented = (isUnchecked && isPacked ? 25 : 4) * done.length;
  return { fileName: "run.mcap", seed, bytes, damages: done, originals, mostInvented, isUnchecked };
}
