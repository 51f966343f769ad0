import { createDice, type Dice } from "./odd/dice.ts";
import { makeOddMcap, type OddMcap } from "./odd-mcap.ts";
import { readOddFile } from "./read-odd-file.ts";

/** A made file that was changed without knowing what it is; the slow reader says what is left of it. */
export function mutateOddMcap(seed: number): OddMcap {
  const dice = createDice(seed + 2_000_000_011);
  // Without checksums a change is seldom refused, so that more of what is behind them is tried.
  const end = dice.pick(["no checksum of the summary", "no summary", "neither data end nor summary"]);
  const odd = makeOddMcap(seed, dice.chance(0.7) ? ["chunks without a checksum", end] : undefined);
  const chosen = dice.chance(0.6) ? [dice.pick(mutations)] : dice.pickSome(mutations);
  const all = [...chosen, ...(dice.chance(0.5) ? [mend] : []), ...(dice.chance(0.05) ? [cut] : [])];
  const bytes = all.reduce((sum: Uint8Array, { change }) => change(sum, dice), odd.bytes);
  const kinds = all.map(({ name }) => name);
  return readOddFile(bytes, { seed, kinds, compression: odd.compression });
}

interface Mutation {
  readonly name: string;
  change(bytes: Uint8Array, dice: Dice): Uint8Array;
}

/** Records that moved are refused by checksums and by the places in the footer: without them the rest has to be looked at. */
const mend: Mutation = {
  name: "mutated: no checksum and no summary",
  change(bytes) {
    const mended = bytes.slice();
    for (const start of recordStarts(bytes)) {
      // The fields of a DataEnd record, and of the footer.
      const [from, length] = [start + 9, { 15: 4, 2: 20 }[bytes[start]!] ?? 0];
      mended.fill(0, from, from + length);
    }
    return mended;
  },
};

/** A file without an end is refused before anything else is looked at, so that its salvage is tested. */
const cut: Mutation = {
  name: "mutated: an end cut off",
  change: (bytes, dice) => bytes.slice(0, dice.below(bytes.byteLength)),
};

const mutations: readonly Mutation[] = [
  { name: "mutated: flipped bits", change: (bytes, dice) => flipBits(bytes, dice, () => dice.below(bytes.byteLength)) },
  {
    name: "mutated: flipped bits in the heads of records",
    change(bytes, dice) {
      const starts = recordStarts(bytes);
      return flipBits(bytes, dice, () => Math.min(dice.pick(starts) + dice.below(40), bytes.byteLength - 1));
    },
  },
  {
    name: "mutated: a range cut out",
    change(bytes, dice) {
      const { start, end } = chooseRange(bytes, dice);
      return join(bytes.subarray(0, start), bytes.subarray(end));
    },
  },
  {
    name: "mutated: a range put in",
    change(bytes, dice) {
      const { start, end } = chooseRange(bytes, dice);
      const at = dice.chance(0.5) ? dice.pick(recordStarts(bytes)) : dice.below(bytes.byteLength);
      const range = dice.chance(0.5) ? bytes.subarray(start, end) : dice.bytes(dice.between(1, 30));
      return join(bytes.subarray(0, at), range, bytes.subarray(at));
    },
  },
  {
    name: "mutated: ranges exchanged",
    change(bytes, dice) {
      const [a, b, c] = [0, 1, 2].map(() => dice.pick(recordStarts(bytes))).sort((x, y) => x - y) as [
        number,
        number,
        number,
      ];
      return join(bytes.subarray(0, a), bytes.subarray(b, c), bytes.subarray(a, b), bytes.subarray(c));
    },
  },
  {
    name: "mutated: a range of zeros",
    change(bytes, dice) {
      const { start, end } = chooseRange(bytes, dice);
      return bytes.slice().fill(0, start, end);
    },
  },
];

function flipBits(bytes: Uint8Array, dice: Dice, choosePlace: () => number): Uint8Array {
  const flipped = bytes.slice();
  if (flipped.byteLength === 0) return flipped;
  for (let left = dice.between(1, 4); left > 0; left -= 1) {
    const at = choosePlace();
    flipped[at]! ^= 1 << dice.below(8);
  }
  return flipped;
}

/** Chooses a range, often of whole records, so that what is left still makes sense. */
function chooseRange(bytes: Uint8Array, dice: Dice): { start: number; end: number } {
  if (dice.chance(0.6)) {
    const starts = recordStarts(bytes);
    const [start, end] = [dice.pick(starts), dice.pick(starts)].sort((a, b) => a - b) as [number, number];
    return { start, end };
  }
  const start = dice.below(bytes.byteLength);
  return { start, end: Math.min(bytes.byteLength, start + dice.between(1, 50)) };
}

/** Where records start, as far as the file makes sense. The first begins behind the magic. */
function recordStarts(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const starts = [8];
  for (let at = 8; at + 9 <= bytes.byteLength; ) {
    starts.push(at);
    const next = at + 9 + Number(view.getBigUint64(at + 1, true));
    if (next <= at || next > bytes.byteLength) break;
    at = next;
  }
  return starts.filter((start) => start < bytes.byteLength);
}

function join(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
