import { createDice, type Dice } from "./odd/dice.ts";
import type { Draft } from "./odd/draft.ts";
import type { OddKind } from "./odd/kind.ts";
import { oddKinds } from "./odd/kinds.ts";
import type { Layout } from "./odd/layout.ts";
import type { Name } from "./odd/record-bytes.ts";
import { makeSoundDraft } from "./odd/sound-draft.ts";
import { writeDraft } from "./odd/write-draft.ts";

/** A message as it was written, or as a slow reader found it. */
export interface OddMessage {
  readonly topic: string;
  readonly messageEncoding: string;
  readonly schemaName: string;
  readonly logTimeNs: bigint;
  readonly publishTimeNs: bigint;
  readonly sequence: number;
  readonly data: Uint8Array;
  /** False if no reader can surely give it as it was written. None may leave it out without saying so. */
  readonly isSound: boolean;
}

/** An MCAP file that is odd in one or several ways, and what stands in it. */
export interface OddMcap {
  readonly seed: number;
  /** The names of its oddities. */
  readonly kinds: readonly string[];
  /** The source of its known messages: the program that wrote it, or a slow reader, which may miss some behind damage. */
  readonly knownBy: "writer" | "reader";
  /** True if the format allows all of its oddities, so that refusing it is wrong. */
  readonly isLegal: boolean;
  /** True if messages are lost or in doubt, so that giving it as whole is wrong. */
  readonly isDamaged: boolean;
  /** True if the slow reader found an id that is defined twice, differently, or a record of the type 0. */
  readonly isUnclear?: boolean;
  /** The compression of most of its chunks. */
  readonly compression: "" | "lz4" | "zstd";
  readonly bytes: Uint8Array;
  /** The messages in the order of the file. */
  readonly messages: readonly OddMessage[];
}

/** Makes the same file for the same seed. `names` are the kinds that it shall have; by default the seed chooses some. */
export function makeOddMcap(seed: number, names?: readonly string[]): OddMcap {
  const dice = createDice(seed);
  const kinds = names ? oddKinds.filter(({ name }) => names.includes(name)) : chooseKinds(dice);
  const draft = kinds.reduce((sum: Draft, kind) => kind.twist(sum, dice), makeSoundDraft(dice));
  const { bytes, layout } = writeDraft(draft);
  const messages = listMessages(draft, layout);
  return {
    seed,
    kinds: kinds.map(({ name }) => name),
    knownBy: "writer",
    isLegal: kinds.every(({ grade }) => grade === "legal"),
    isDamaged: messages.some(({ isSound }) => !isSound),
    compression: draft.compression,
    bytes,
    messages,
  };
}

/**
 * Chooses often one kind, else up to five, and only one of rivals. They are in the order of the list, so that a kind finds what it changes.
 */
function chooseKinds(dice: Dice): readonly OddKind[] {
  const common = oddKinds.filter(({ isRare }) => !isRare || dice.chance(RARE_CHANCE));
  const count = dice.chance(0.35) ? 1 : dice.between(2, 5);
  const taken = new Set<string>();
  const chosen = new Set<OddKind>();
  for (const kind of dice.shuffle(common)) {
    if (chosen.size >= count) break;
    const { rivals = [] } = kind;
    if (rivals.some((rival) => taken.has(rival))) continue;
    for (const rival of rivals) taken.add(rival);
    chosen.add(kind);
  }
  return oddKinds.filter((kind) => chosen.has(kind));
}

const RARE_CHANCE = 0.1;

function listMessages({ channels, schemas }: Draft, { messages }: Layout): OddMessage[] {
  const channelsById = new Map(channels.map((channel) => [channel.id, channel]));
  const schemasById = new Map(schemas.map((schema) => [schema.id, schema]));
  return messages.map(({ message, isLost }) => {
    const { channelId, ...rest } = message;
    const { topic, messageEncoding, schemaId } = channelsById.get(channelId)!;
    const schemaName = textOf(schemasById.get(schemaId)?.name ?? "");
    return { ...rest, topic: textOf(topic), messageEncoding: textOf(messageEncoding), schemaName, isSound: !isLost };
  });
}

/** Answers a name as readers give it: they replace invalid UTF-8, and the character 0, which databases refuse. */
export function textOf(name: Name): string {
  return Buffer.from(name as string)
    .toString("utf8")
    .replaceAll("\0", "\ufffd");
}
