import { DefinedTwiceError } from "../faults/reasons.ts";

/**
 * How far a schema or channel of a damaged file is trusted: what is trusted more counts, wherever it stands, and what is trusted less only
 * fills gaps. It stands in bytes that a checksum refutes or that make no sense, in the beginning of a chunk that is not whole, in a summary
 * without a checksum, in data without one, or in what a checksum proves.
 */
export const trusts = { refuted: 0, begun: 1, repeated: 2, unchecked: 3, proven: 4 } as const;
export type Trust = (typeof trusts)[keyof typeof trusts];

export interface Trusting {
  /** How far the definitions are trusted that are read now. Only a salvage doubts any. */
  trust: Trust;
  /** How far those are trusted that are known, if they are not proven. */
  readonly doubts: WeakMap<object, Trust>;
  /** How often a definition was read that is not proven, and how often another one that is like it. */
  readonly votes: Map<string, Votes>;
}

interface Votes {
  known: number;
  /** The statement of the other one, as a text; empty if there is none. */
  rival: string;
  rivals: number;
}

export interface Definitions<T extends object> {
  /** Names what is defined, whatever it is. */
  readonly id: string;
  /** The same for a person. */
  readonly what: string;
  readonly known: T;
  readonly said: T;
  areSame(a: T, b: T): boolean;
  /** Whether one of them may be the other one with a few bytes damaged. */
  areAlike(a: T, b: T): boolean;
  keyOf(said: T): string;
}

/**
 * Whether a definition changes nothing, because it says what is known or is trusted less. If both are trusted as much, and no checksum proves
 * either, what is said more often counts of two that are alike. Throws if the two contradict each other.
 */
export function isRepeat<T extends object>(trusting: Trusting, definitions: Definitions<T>): boolean {
  const { trust, doubts } = trusting;
  const { known, said, what, areSame, areAlike } = definitions;
  const knownTrust = doubts.get(known) ?? trusts.proven;
  const isSame = areSame(known, said);
  if (isSame && trust > knownTrust) doubts.set(known, trust);
  if (trust !== knownTrust) return isSame || trust < knownTrust;
  if (trust <= trusts.begun) return true;
  if (trust < trusts.proven && (isSame || areAlike(known, said))) return !isOutvoted(trusting, definitions, isSame);
  if (!isSame) throw new DefinedTwiceError(what);
  return true;
}

function isOutvoted<T extends object>({ votes }: Trusting, definitions: Definitions<T>, isSame: boolean): boolean {
  const { id, known, said, keyOf } = definitions;
  const sum = votes.get(id) ?? { known: 1, rival: "", rivals: 0 };
  votes.set(id, sum);
  if (isSame) sum.known += 1;
  if (isSame) return false;
  const rival = keyOf(said);
  if (rival !== sum.rival) Object.assign(sum, { rival, rivals: 0 });
  sum.rivals += 1;
  if (sum.rivals <= sum.known) return false;
  votes.set(id, { known: sum.rivals, rival: keyOf(known), rivals: sum.known });
  return true;
}

/** Notes how far a definition is trusted that was taken. */
export function noteTrust({ trust, doubts }: Trusting, taken: object): void {
  if (trust < trusts.proven) doubts.set(taken, trust);
}
