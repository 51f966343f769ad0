import { seededRandom } from "../sensors.ts";

/** Chance that repeats itself: the same seed gives the same throws in the same order. */
export interface Dice {
  /** Returns a number from 0 to `count - 1`. */
  below(count: number): number;
  /** Both inclusive. */
  between(least: number, most: number): number;
  /** True this often of 1. */
  chance(part: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** At least one of a list that is not empty, in the list's order. */
  pickSome<T>(list: readonly T[]): T[];
  shuffle<T>(list: readonly T[]): T[];
  bytes(lengthBytes: number): Buffer;
}

export function createDice(seed: number): Dice {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  return {
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (part) => random() < part,
    pick,
    pickSome(list) {
      const chosen = new Set(list.filter(() => random() < 0.4));
      if (chosen.size === 0 && list.length > 0) chosen.add(pick(list));
      return list.filter((each) => chosen.has(each));
    },
    shuffle(list) {
      const keyed = list.map((each) => ({ each, key: random() }));
      return keyed.sort((a, b) => a.key - b.key).map(({ each }) => each);
    },
    bytes(lengthBytes) {
      const bytes = Buffer.alloc(lengthBytes);
      for (let at = 0; at < lengthBytes; at += 1) bytes[at] = below(256);
      return bytes;
    },
  };
}
