import { seededRandom } from "./sensors.ts";

export interface CorruptFile {
  /** The name of the change, readable in a test's output. */
  readonly name: string;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

/** Broken variants of a valid recording: what cards, cables, power cuts and enemies make of files. */
export function corrupt(recording: Uint8Array, fileName: string): CorruptFile[] {
  // A plain array: slice() of a Buffer would not copy.
  const bytes = new Uint8Array(recording);
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
    ...corruptChunk(bytes).map(([name, variant]) => of(name, variant)),
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

/** Lies in the header of the first chunk, if there is one. */
function corruptChunk(bytes: Uint8Array): [string, Uint8Array][] {
  const found = isMcap(bytes) ? findMcapChunk(bytes) : findBagChunk(bytes);
  if (!found) return [];
  const { sizeOffset, lengthOffset, compressionOffset } = found;
  const patch = (offset: number, value: Uint8Array): Uint8Array => {
    const patched = bytes.slice();
    patched.set(value, offset);
    return patched;
  };
  return [
    ["chunk that promises 4 GiB", patch(sizeOffset, Uint8Array.of(0xff, 0xff, 0xff, 0xff))],
    ["chunk that promises 200 MiB", patch(sizeOffset, Uint8Array.of(0, 0, 0x80, 0x0c))],
    ["chunk that promises one byte", patch(sizeOffset, Uint8Array.of(1, 0, 0, 0))],
    ["chunk longer than the file", patch(lengthOffset, Uint8Array.of(0xff, 0xff, 0xff, 0x7f))],
    ["chunk of another compression", patch(compressionOffset, Buffer.from("x"))],
  ];
}

interface ChunkFields {
  readonly sizeOffset: number;
  readonly lengthOffset: number;
  readonly compressionOffset: number;
}

function isMcap(bytes: Uint8Array): boolean {
  return bytes[0] === 0x89;
}

/** spec: MCAP "Chunk". */
function findMcapChunk(bytes: Uint8Array): ChunkFields | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 8;
  while (offset + 9 < bytes.byteLength && bytes[offset] !== 0x06)
    offset += 9 + Number(view.getBigUint64(offset + 1, true));
  if (bytes[offset] !== 0x06) return undefined;
  return { sizeOffset: offset + 25, lengthOffset: offset + 1, compressionOffset: offset + 41 };
}

/** spec: ROS bag format 2.0, "Chunk"; the fields of its header may stand in any order. */
function findBagChunk(bytes: Uint8Array): ChunkFields | undefined {
  const name = Buffer.from(bytes).indexOf("compression=");
  if (name < 0) return undefined;
  const headerEnd = endOfHeaderAround(bytes, name);
  const size = Buffer.from(bytes).indexOf("size=", name - 40);
  return { sizeOffset: size + 5, lengthOffset: headerEnd, compressionOffset: name + 12 };
}

/** The header of the record that the field at `position` belongs to: its length stands before its first field. */
function endOfHeaderAround(bytes: Uint8Array, position: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = position - 4; start > position - 64; start -= 1) {
    const length = view.getUint32(start, true);
    const first = view.getUint32(start + 4, true);
    if (first < length && length < 64 && start + 4 + length > position) return start + 4 + length;
  }
  return position;
}
