import type { FileHandle } from "node:fs/promises";
import { type PieceRange, sendInPieces, type UploadWay } from "@downlink/client";
import { type PutOptions, putStream } from "@downlink/client/node";
import { api, type PartUpload, type Piece } from "@downlink/protocol";
import { waitOut } from "../files/wait-out.ts";
import type { Service } from "../login/open-service.ts";
import { hashRange, type Range, readRange } from "./read-range.ts";

const { partUploads } = api;

interface Part {
  readonly upload: PartUpload;
  readonly number: number;
  readonly range: Range;
  readonly digest: string;
  readonly way: UploadWay;
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
  const { client, signal } = service;
  const { upload, number, range, digest, way } = part;
  const { requestId } = upload;
  const announced = { number, length: range.length, [upload.digest]: digest };
  const progress = { isMade: false };
  let isBroken = upload.pieces.held.some((piece) => piece.number === number);
  let [sentWholeBytes, heldBytes] = [0, 0];
  const onHeld = (bytes: number) => {
    progress.isMade ||= bytes > heldBytes;
    heldBytes = bytes;
  };
  const act = async () => {
    if (isBroken || way.losesParts)
      return await sendInPieces({ ...piecesOf(service, file, part), sentWholeBytes, onHeld });
    const { grants } = await client.call(partUploads.grantParts, { requestId, parts: [announced] }, { signal });
    isBroken = true;
    await put(service, grants[0]!, {
      ...{ body: readRange(file, range), length: range.length },
      onProgress: (bytes) => {
        sentWholeBytes += bytes;
      },
    });
  };
  await insist(signal, act, progress);
}

type Sent = Pick<PutOptions, "body" | "length" | "onProgress">;

async function put({ dispatcher, signal }: Service, { url, headers }: Target, sent: Sent): Promise<void> {
  await putStream(url, { ...sent, headers, signal, dispatcher });
}

function piecesOf(service: Service, file: FileHandle, { upload, number, range, digest, way }: Part) {
  const { client, signal } = service;
  const { requestId, digest: algorithm, pieces } = upload;
  const { length } = range;
  return {
    ...{ length, way, minBytes: pieces.minBytes, digest: { [algorithm]: digest } },
    hash: async (piece: PieceRange) => ({
      [algorithm]: await hashRange(file, within(range, piece), { algorithm, encoding: "base64", signal }),
    }),
    grant: (wanted: Piece[]) => client.call(partUploads.grantPieces, { requestId, number, pieces: wanted }, { signal }),
    put: (target: Target, piece: PieceRange) =>
      put(service, target, { body: readRange(file, within(range, piece)), length: piece.length }),
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
