import { type PartUpload, partUploads } from "@downlink/protocol";
import { client } from "../api/client.ts";
import { explainFailure } from "../api/failure.ts";
import { type PieceRange, putBlob, sendInPieces, type UploadWay } from "../api/put-blob.ts";
import type { Hasher } from "./open-hasher.ts";

interface Part {
  readonly number: number;
  readonly blob: Blob;
  readonly way: UploadWay;
}

interface Sending {
  readonly hasher: Hasher;
  readonly signal: AbortSignal;
  /** Gets how many bytes of the part have been sent. */
  readonly onSent: (bytes: number) => void;
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns what sends a part, as often as it is called: whole at first, and after a break what the service has not kept of it. The digest is made
 * at each try, because a file that cannot be read looks like a broken link while it is sent.
 */
export function createPartSender(upload: PartUpload, part: Part, { hasher, signal, onSent }: Sending) {
  const { requestId, pieces } = upload;
  const { number, blob, way } = part;
  const { size: length } = blob;
  const put = ({ url, headers }: Target, { offset, length }: PieceRange) =>
    putBlob(ownTarget(url), blob.slice(offset, offset + length), {
      ...{ headers, signal },
      onSent: (bytes) => {
        if (length === blob.size) sentWholeBytes = bytes;
        onSent(offset + bytes);
      },
    });
  let isBroken = pieces.held.some((piece) => piece.number === number);
  let sentWholeBytes = 0;
  const send = async () => {
    const digest = await digestOf(hasher, blob);
    if (isBroken || way.losesParts)
      return sendInPieces({
        ...{ length, digest, way, sentWholeBytes, put, minBytes: pieces.minBytes, onHeld: onSent },
        hash: (range) => digestOf(hasher, blob.slice(range.offset, range.offset + range.length)),
        grant: (wanted) => client.call(partUploads.grantPieces, { requestId, number, pieces: wanted }, { signal }),
        compose: () => client.call(partUploads.composePart, { requestId, number, length, ...digest }, { signal }),
      });
    const { grants } = await client.call(
      partUploads.grantParts,
      { requestId, parts: [{ number, length, ...digest }] },
      { signal },
    );
    isBroken = true;
    await put(grants[0]!, { offset: 0, length });
  };
  return async () => {
    try {
      await send();
    } catch (error) {
      if (explainFailure(error).kind !== "forbidden") throw error;
      await send(); // the target ended with the session, or with its time
    }
  };
}

/** Parts and pieces are announced by their SHA-256. */
async function digestOf(hasher: Hasher, blob: Blob): Promise<{ sha256: string }> {
  return { sha256: btoa(String.fromCharCode(...(await hasher.hash(blob)))) };
}

/** Bytes that are announced by their SHA-256 go to the service itself, which may have another name for programs than for this page. */
function ownTarget(url: string): string {
  const { pathname, search } = new URL(url);
  return location.origin + pathname + search;
}
