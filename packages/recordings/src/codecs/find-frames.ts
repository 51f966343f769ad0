/** One frame among compressed bytes. */
export interface Frame {
  readonly start: number;
  readonly end: number;
}

/** LZ4 and zstd share sixteen magic numbers of frames that decoders pass over. */
export function isSkippable(magic: number): boolean {
  return magic >>> 4 === 0x184d2a5;
}

/**
 * Finds the frames that stand one behind the other, because decoders end at the end of the first. Bytes behind the last frame are left out.
 * `readFrame` answers undefined if no whole frame begins.
 */
export function findFrames<F extends Frame>(
  bytes: Uint8Array,
  readFrame: (view: DataView, start: number, magic: number) => F | undefined,
): F[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: F[] = [];
  for (let at = 0; at + LEAST_FRAME_BYTES <= bytes.byteLength; ) {
    const magic = view.getUint32(at, true);
    if (isSkippable(magic)) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    const frame = readFrame(view, at, magic);
    if (!frame) break;
    frames.push(frame);
    at = frame.end;
  }
  return frames;
}

/** The size of the shortest frame that has content or may be passed over. */
const LEAST_FRAME_BYTES = 8;
