import type { FileHandle } from "node:fs/promises";
import { type PieceRange, sendInPieces } from "@downlink/client";
import { putStream } from "@downlink/client/node";
import { api, type PartUpload, type Piece } from "@downlink/protocol";
import { waitOut } from "../files/wait-out.ts";
import type { Service } from "../login/open-service.ts";
import { hashRange, type Range, readRange } from "./read-range.ts";

const { partUploads } = api;
/** A link of which so much is sent, and nothing arrives, has a proxy or bucket at its end that drops a part that breaks off. */
const LOST_BYTES = 1024 * 1024;

interface Part {
  readonly upload: PartUpload;
  readonly number: number;
  readonly range: Range;
  readonly digest: string;
  /** The parts of an upload share what its breaks have shown. */
  readonly link: { losesParts: boolean };
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Sends a part whole. After a break it goes on behind what the service has kept of the part; where that kept nothing, this part and all
 * others go in pieces.
 */
export async function sendPart(service: Service, file: FileHandle, part: Part): Promise<void> {
  const { client, dispatcher, signal } = service;
  const { upload, number, range, digest, link } = part;
  const { requestId } = upload;
  const announced = { number, length: range.length, [upload.digest]: digest };
  const put = (target: Target, of: Range, onProgress?: (bytes: number) => void) =>
    putStream(target.url, {
      ...{ body: readRange(file, of), length: of.length, headers: target.headers, signal, dispatcher },
      ...(onProgress && { onProgress }),
    });
  const progress = { isMade: false };
  let isBroken = upload.pieces.held.some((piece) => piece.number === number);
  let [sentBytes, heldBytes] = [0, 0];
  const act = async () => {
    if (isBroken || link.losesParts)
      return await sendInPieces({
        ...piecesOf(service, file, part),
        put: (target, piece) => put(target, within(range, piece)),
        onHeld: (bytes) => {
          progress.isMade ||= bytes > heldBytes;
          heldBytes = bytes;
          if (bytes === 0 && sentBytes >= LOST_BYTES) link.losesParts = true;
        },
      });
    const { grants } = await client.call(partUploads.grantParts, { requestId, parts: [announced] }, { signal });
    isBroken = true;
    await put(grants[0]!, range, (bytes) => {
      sentBytes += bytes;
    });
  };
  await insist(signal, act, progress);
}

function piecesOf({ client, signal }: Service, file: FileHandle, { upload, number, range, digest }: Part) {
  const { requestId, digest: algorithm, pieces } = upload;
  const { length } = range;
  return {
    length,
    digest: { [algorithm]: digest },
    minBytes: pieces.minBytes,
    hash: async (piece: PieceRange) => ({
      [algorithm]: await hashRange(file, within(range, piece), { algorithm, encoding: "base64", signal }),
    }),
    grant: (wanted: Piece[]) => client.call(partUploads.grantPieces, { requestId, number, pieces: wanted }, { signal }),
    compose: () => client.call(partUploads.composePart, { requestId, number, length, [algorithm]: digest }, { signal }),
  };
}

function within({ start }: Range, { offset, length }: PieceRange): Range {
  return { start: start + offset, length };
}

/** Does again after each break what does no harm when it is done twice. A try that has made progress ends a row of failures. */
export async function insist(
  signal: AbortSignal,
  act: () => Promise<unknown>,
  progress = { isMade: false },
): Promise<void> {
  for (let failures = 1; ; failures++) {
    try {
      await act();
      return;
    } catch (error) {
      if (progress.isMade) failures = 1;
      progress.isMade = false;
      await waitOut(error, failures, signal);
    }
  }
}
