import { createHash } from "node:crypto";
import { algorithmOf, base64Of, makeDigest } from "@downlink/protocol";
import { ApiError } from "../../core/errors.ts";
import { DigestMismatchError } from "./blob-errors.ts";
import type { PiecePlan, SentBytes } from "./blob-store.ts";
import type { PartBuffer } from "./part-buffer.ts";

/** Takes the first bytes of a part or piece whose sender broke off, as a piece. */
export type KeepBeginning = (piece: PiecePlan, body: AsyncIterable<Uint8Array>) => Promise<void>;

interface Announced extends SentBytes {
  readonly partNumber: number;
  /** The offset of a piece within its part. */
  readonly offset?: number;
  /** For messages. */
  readonly name: string;
  readonly keep: KeepBeginning;
}

type Buffering = Pick<PartBuffer, "add" | "read">;

/**
 * Takes exactly the announced bytes, or throws {@link DigestMismatchError}, whose message names the part. Where the sender breaks off, and its
 * grant says so, the bytes that came are kept: they were not compared with anything, which `composePart` does.
 */
export async function fillVerified(
  buffer: Buffering,
  announced: Announced,
  body: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { name, digest, lengthBytes: wantedBytes } = announced;
  const hash = createHash(algorithmOf(digest));
  let lengthBytes = 0;
  try {
    for await (const piece of body) {
      if (lengthBytes + piece.byteLength > wantedBytes)
        throw new DigestMismatchError(`${name} is longer than the ${wantedBytes} bytes announced`);
      hash.update(piece);
      await buffer.add(piece, lengthBytes);
      lengthBytes += piece.byteLength;
    }
  } catch (error) {
    const came = { lengthBytes, digest: makeDigest(algorithmOf(digest), hash.copy().digest("base64")) };
    if (announced.keepsBeginning && !(error instanceof ApiError)) await keepWhatCame(buffer, announced, came);
    throw error;
  }
  if (lengthBytes < wantedBytes)
    throw new DigestMismatchError(`${name} ended after ${lengthBytes} of ${wantedBytes} bytes`);
  if (hash.digest("base64") !== base64Of(digest))
    throw new DigestMismatchError(`the bytes of ${name} do not have the digest announced`);
}

/** A beginning that is too short, or may be no piece for another reason, is sent again. */
async function keepWhatCame(buffer: Buffering, announced: Announced, came: SentBytes): Promise<void> {
  const { partNumber, offset = 0, keep } = announced;
  try {
    await keep({ partNumber, offset, ...came }, buffer.read(came.lengthBytes));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}
