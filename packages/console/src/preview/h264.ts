/** Types of NAL units. source: ITU-T H.264, table 7-1 */
const NAL = { slice: 1, keySlice: 5, sequence: 7 } as const;

/** Pictures of a video from a key frame to the one that is shown, in Annex B. */
export interface VideoRun {
  readonly codec: string;
  readonly frames: readonly Uint8Array[];
}

interface NalUnit {
  readonly type: number;
  /** The place of its first byte, which has the type. */
  readonly at: number;
}

/** Lists the NAL units of a picture after their start codes 00 00 01. source: ITU-T H.264, annex B */
export function* listNalUnits(bytes: Uint8Array): Generator<NalUnit> {
  for (let one = bytes.indexOf(1, 2); one >= 0 && one + 1 < bytes.byteLength; one = bytes.indexOf(1, one + 1))
    if (bytes[one - 1] === 0 && bytes[one - 2] === 0) yield { type: bytes[one + 1]! & 0x1f, at: one + 1 };
}

/** Returns whether a picture can be read without those before it: its slices are IDR. It reads no further than the first slice. */
export function isKeyFrame(bytes: Uint8Array): boolean {
  for (const { type } of listNalUnits(bytes))
    if (type >= NAL.slice && type <= NAL.keySlice) return type === NAL.keySlice;
  return false;
}

/**
 * Returns the name of the codec as browsers want it, `avc1.42e01f`: the profile, its constraints and the level of the sequence; undefined
 * where the picture brings no sequence parameter set. source: RFC 6381, 3.3
 */
export function codecOf(bytes: Uint8Array): string | undefined {
  for (const { type, at } of listNalUnits(bytes)) {
    if (type !== NAL.sequence || at + 3 >= bytes.byteLength) continue;
    const named = [...bytes.subarray(at + 1, at + 4)].map((byte) => byte.toString(16).padStart(2, "0"));
    return `avc1.${named.join("")}`;
  }
  return undefined;
}
