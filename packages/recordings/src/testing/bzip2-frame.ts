/*
 * Compresses a little to bzip2, because no library that we have writes it: one block, sorted by comparing rotations, and codes of one length.
 * Source: the format as it is described in "bzip2: Format Specification" by J. Tsai.
 */

/** At most 50,000 bytes without long runs of one byte, so that they are one block at every level. */
export function compressBzip2(bytes: Uint8Array): Buffer {
  const packed = packRuns(bytes);
  const { last, origin } = sortRotations(packed);
  const crc = blockCrc(bytes);
  const out = createBits();
  for (const byte of Buffer.from("BZh9")) out.put(byte, 8);
  if (packed.byteLength > 0) {
    out.put(0x314159, 24).put(0x265359, 24);
    out.put(crc >>> 16, 16).put(crc & 0xffff, 16);
    out.put(0, 1).put(origin, 24);
    putSymbols(last, out);
  }
  out.put(0x177245, 24).put(0x385090, 24);
  const sum = packed.byteLength > 0 ? crc : 0;
  out.put(sum >>> 16, 16).put(sum & 0xffff, 16);
  return out.end();
}

/** Four equal bytes are followed by how many more there are. */
function packRuns(bytes: Uint8Array): Uint8Array {
  const packed: number[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    let count = 1;
    while (count < 255 && bytes[at + count] === bytes[at]) count += 1;
    for (let left = Math.min(4, count); left > 0; left -= 1) packed.push(bytes[at]!);
    if (count >= 4) packed.push(count - 4);
    at += count;
  }
  return Uint8Array.from(packed);
}

/** The last column of the sorted rotations, and the row of the bytes themselves. */
function sortRotations(bytes: Uint8Array): { last: Uint8Array; origin: number } {
  const { byteLength } = bytes;
  const twice = Buffer.concat([bytes, bytes]);
  const rotation = (start: number): Buffer => twice.subarray(start, start + byteLength);
  const starts = Array.from(bytes, (_, start) => start).sort(
    (a, b) => Buffer.compare(rotation(a), rotation(b)) || a - b,
  );
  const last = Uint8Array.from(starts, (start) => bytes[(start + byteLength - 1) % byteLength]!);
  return { last, origin: starts.indexOf(0) };
}

type Bits = ReturnType<typeof createBits>;

function putSymbols(last: Uint8Array, out: Bits): void {
  const used = [...new Set(last)].sort((a, b) => a - b);
  for (let row = 0; row < 16; row += 1) out.put(Number(used.some((byte) => byte >> 4 === row)), 1);
  for (let row = 0; row < 16; row += 1)
    if (used.some((byte) => byte >> 4 === row))
      for (let column = 0; column < 16; column += 1) out.put(Number(used.includes(row * 16 + column)), 1);
  const symbols = moveToFront(last, used);
  const symbolCount = used.length + 2;
  const codeBits = Math.max(1, Math.ceil(Math.log2(symbolCount)));
  const selectorCount = Math.ceil(symbols.length / 50);
  out.put(2, 3).put(selectorCount, 15); // two tables, of which the first is used
  for (let left = selectorCount; left > 0; left -= 1) out.put(0, 1);
  for (let table = 0; table < 2; table += 1) {
    out.put(codeBits, 5);
    for (let left = symbolCount; left > 0; left -= 1) out.put(0, 1);
  }
  for (const symbol of symbols) out.put(symbol, codeBits);
}

/** Answers the places in the list of recent bytes; runs of zeros as numbers in base 2 with the digits 1 and 2. */
function moveToFront(last: Uint8Array, used: readonly number[]): number[] {
  const recent = [...used];
  const symbols: number[] = [];
  let zeros = 0;
  const endRun = (): void => {
    for (; zeros > 0; zeros = (zeros - 1) >> 1) symbols.push((zeros - 1) & 1);
  };
  for (const byte of last) {
    const place = recent.indexOf(byte);
    recent.splice(place, 1);
    recent.unshift(byte);
    if (place === 0) {
      zeros += 1;
      continue;
    }
    endRun();
    symbols.push(place + 1);
  }
  endRun();
  symbols.push(used.length + 1);
  return symbols;
}

function blockCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let left = 8; left > 0; left -= 1) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return ~crc >>> 0;
}

function createBits() {
  const bytes: number[] = [];
  let [held, count] = [0, 0];
  return {
    /** At most 24 bits, the highest first. */
    put(value: number, bits: number) {
      for (let at = bits - 1; at >= 0; at -= 1) {
        held = (held << 1) | ((value >>> at) & 1);
        count += 1;
        if (count === 8) {
          bytes.push(held);
          [held, count] = [0, 0];
        }
      }
      return this;
    },
    end(): Buffer {
      while (count > 0) this.put(0, 1);
      return Buffer.from(bytes);
    },
  };
}
