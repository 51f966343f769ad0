import { constants, zstdCompressSync } from "node:zlib";
import { compressFrameSync } from "lz4-napi";
import type { Dice } from "./dice.ts";
import { type Compression, chunksOf, type Draft, type DraftChunk, withChunks } from "./draft.ts";
import type { OddKind } from "./kind.ts";
import { compress } from "./sound-draft.ts";

/** How the records of a chunk are compressed. Spec: RFC 8878 "Zstandard Frames", LZ4 frame format. */
export const frameKinds: readonly OddKind[] = [
  framed("chunks of other compressions", "legal", (dice) => plain(dice.pick(["", "lz4", "zstd"] as const))),
  framed("several zstd frames", "legal", (dice) => inFrames("zstd", dice)),
  framed("several lz4 frames", "legal", (dice) => inFrames("lz4", dice)),
  framed("skippable zstd frames", "legal", (dice) => besideSkippable("zstd", dice)),
  framed("skippable lz4 frames", "legal", (dice) => besideSkippable("lz4", dice)),
  framed("zstd frames without their size", "legal", (dice) => {
    const params = { [constants.ZSTD_c_contentSizeFlag]: 0, [constants.ZSTD_c_checksumFlag]: dice.below(2) };
    return { compression: "zstd", frame: (records) => zstdCompressSync(records, { params }) };
  }),
  framed("lz4 frames with checksums", "legal", (dice) => {
    const options = { contentChecksum: dice.chance(0.5), blockChecksums: dice.chance(0.5) };
    return { compression: "lz4", frame: (records) => compressFrameSync(Buffer.from(records), options) };
  }),
  framed("rubbish behind a frame", "wrong", (dice) => {
    const { compression, frame } = plain(dice.pick(["lz4", "zstd"] as const));
    const rubbish = dice.bytes(dice.between(1, 12));
    return { compression, frame: (records) => Buffer.concat([frame(records), rubbish]) };
  }),
];

type Framing = Pick<DraftChunk, "compression" | "frame">;

function framed(name: string, grade: OddKind["grade"], make: (dice: Dice) => Framing): OddKind {
  const twist = (draft: Draft, dice: Dice): Draft =>
    withChunks(draft, dice.pickSome(chunksOf(draft)), () => make(dice));
  return { name, grade, rivals: ["frames"], twist };
}

function plain(compression: Compression): Framing {
  return { compression, frame: (records) => compress(records, compression) };
}

function inFrames(compression: Compression, dice: Dice): Framing {
  const parts = dice.between(2, 4);
  return {
    compression,
    frame(records) {
      const size = Math.ceil(records.byteLength / parts);
      const cuts = Array.from({ length: parts }, (_, index) => records.subarray(index * size, (index + 1) * size));
      return Buffer.concat(cuts.map((cut) => compress(cut, compression)));
    },
  };
}

/** Both formats have the same frames that a reader skips, before and behind others. */
function besideSkippable(compression: Compression, dice: Dice): Framing {
  const content = dice.bytes(dice.below(20));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(0x184d2a50 + dice.below(16));
  head.writeUInt32LE(content.byteLength, 4);
  const skippable = Buffer.concat([head, content]);
  const isBefore = dice.chance(0.5);
  return {
    compression,
    frame(records) {
      const frame = compress(records, compression);
      return Buffer.concat(isBefore ? [skippable, frame] : [frame, skippable]);
    },
  };
}
