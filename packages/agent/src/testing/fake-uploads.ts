import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { DigestAlgorithm, DigestFields, Piece, WantedImport } from "@downlink/protocol";
import { digestBytes, hasDigest } from "./digests.ts";
import { FakePieces, type HeldBytes } from "./fake-pieces.ts";
import { RefusalError } from "./refusal.ts";

interface Upload {
  readonly requestId: string;
  readonly size: number;
  readonly partSize: number;
  readonly parts: Map<number, Buffer>;
  readonly pieces: FakePieces;
  readonly digest: DigestAlgorithm;
  isStored: boolean;
}

interface FarSide {
  readonly publicUrl: string;
  readonly requests: ReadonlyMap<string, WantedImport>;
  advance(requestId: string, stage: WantedImport["stage"], reason?: WantedImport["reason"]): void;
}

type OpenInput = {
  requestId: string;
  versionId: string;
  size: number;
  partSize?: number;
  sha256?: string;
  digests?: DigestAlgorithm[];
};
type StatedPart = DigestFields & { number: number; length: number };
type UploadRef = { requestId: string; uploadId: string };

/** Uploads by parts, with the rules of the contract: a part is verified before it counts, and never rewritten. */
export class FakeUploads {
  partSize = 64 * 1024;
  /** Whether parts may come in pieces; older clouds took whole ones only. */
  takesPieces = false;
  /** Whether parts may have SHA-256 digests; older clouds take MD5 only, and do not say so. */
  takesSha256 = true;
  /** Pieces that were received whole, in order of arrival, repeats included. */
  readonly receivedPieces: { readonly number: number; readonly offset: number; readonly length: number }[] = [];
  /** Bytes of every stored version, by version id. */
  readonly stored = new Map<string, Buffer>();
  /** Numbers of the parts that were received whole, in order of arrival, repeats included. */
  readonly received: number[] = [];
  /** The part size that each opening asked for. */
  readonly partSizes: (number | undefined)[] = [];
  /** The names of other recordings by the SHA-256 of their contents; while there are any, files have to be hashed. */
  readonly originals = new Map<string, string>();
  /** A new upload begins with this part, whose bytes differ from those of any file. */
  corruptPart: number | undefined;
  readonly #uploads = new Map<string, Upload>();
  readonly #far: FarSide;

  constructor(far: FarSide) {
    this.#far = far;
  }

  open({ requestId, versionId, size, partSize, sha256 = "", digests = [] }: OpenInput): unknown {
    this.partSizes.push(partSize);
    const request = this.#requestOf(requestId);
    if (request.versionId !== versionId) throw new RefusalError("VersionSuperseded");
    const original = this.originals.get(sha256);
    if (original !== undefined) {
      const text = `the same content was imported already as recording ${original}`;
      this.#far.advance(requestId, "failed", { code: "DuplicateContent", text });
      throw new RefusalError("RequestSuperseded");
    }
    const wantsSha256 = (this.originals.size > 0 && sha256 === "") || undefined;
    const uploadId = `upl_${requestId}`;
    const digest = this.takesSha256 && digests.includes("sha256") ? "sha256" : "md5";
    const upload = this.#uploads.get(uploadId) ?? {
      requestId,
      size,
      partSize: this.partSize,
      parts: new Map(),
      pieces: new FakePieces(digest),
      digest,
      isStored: false,
    };
    this.#uploads.set(uploadId, upload);
    if (this.corruptPart !== undefined) upload.parts.set(this.corruptPart, Buffer.alloc(upload.partSize, 0xee));
    const parts = Array.from(upload.parts, ([number, bytes]) => ({
      number,
      length: bytes.length,
      ...digestBytes(bytes, upload.digest),
    }));
    const pieces = this.takesPieces ? { minBytes: 64 * 1024, held: upload.pieces.all() } : undefined;
    const support = { digest: this.takesSha256 ? upload.digest : undefined, pieces, wantsSha256 };
    return { uploadId, partSize: upload.partSize, isStored: upload.isStored, parts, ...support };
  }

  grant({ requestId, uploadId, parts }: UploadRef & { parts: StatedPart[] }): unknown {
    const { digest } = this.#uploadOf({ requestId, uploadId });
    return {
      grants: parts.map((part) => ({
        number: part.number,
        url: `${this.#far.publicUrl}/parts/${uploadId}/${part.number}?${asQuery(part, digest)}`,
        headers: {},
      })),
    };
  }

  async receivePart(url: URL, request: IncomingMessage): Promise<unknown> {
    const [, , uploadId = "", number = ""] = url.pathname.split("/");
    const bytes = await readBytes(request);
    if (!isAnnounced(bytes, url)) throw new RefusalError("DigestMismatch");
    this.received.push(Number(number));
    const { parts } = this.#uploads.get(uploadId) ?? fail("UploadClosed");
    if (!parts.has(Number(number))) parts.set(Number(number), bytes);
    return {};
  }

  grantPieces({ requestId, uploadId, number, pieces }: UploadRef & { number: number; pieces: Piece[] }): unknown {
    const upload = this.#uploadOf({ requestId, uploadId });
    const urlOf = (piece: Piece) =>
      `${this.#far.publicUrl}/pieces/${uploadId}/${number}/${piece.offset}?${asQuery(piece, upload.digest)}`;
    return upload.pieces.grant(number, pieces, urlOf);
  }

  async receivePiece(url: URL, request: IncomingMessage): Promise<unknown> {
    const [, , uploadId = "", number = "", offset = ""] = url.pathname.split("/");
    const bytes = await readBytes(request);
    if (!isAnnounced(bytes, url)) throw new RefusalError("DigestMismatch");
    const piece = { number: Number(number), offset: Number(offset) };
    this.receivedPieces.push({ ...piece, length: bytes.length });
    const { pieces } = this.#uploads.get(uploadId) ?? fail("UploadClosed");
    pieces.receive(piece.number, { offset: piece.offset, bytes });
    return {};
  }

  composePart({ requestId, uploadId, number, ...expected }: UploadRef & StatedPart): unknown {
    const { parts, pieces } = this.#uploadOf({ requestId, uploadId });
    if (!parts.has(number)) parts.set(number, pieces.compose(number, expected));
    return {};
  }

  /** The pieces that are held of one part; a test may change them. */
  pieces(requestId: string, number: number): HeldBytes[] {
    return this.#uploads.get(`upl_${requestId}`)?.pieces.of(number) ?? [];
  }

  complete({
    requestId,
    uploadId,
    parts,
    sha256,
  }: UploadRef & { parts: (DigestFields & { number: number })[]; sha256: string }): unknown {
    const upload = this.#uploadOf({ requestId, uploadId });
    const bytes = parts.map((expected) => {
      const part = upload.parts.get(expected.number) ?? fail("PartsMissing");
      return hasDigest(part, expected) ? part : fail("DigestMismatch");
    });
    const whole = Buffer.concat(bytes);
    if (whole.length !== upload.size) throw new RefusalError("PartsMissing");
    if (createHash("sha256").update(whole).digest("hex") !== sha256) throw new RefusalError("DigestMismatch");
    upload.isStored = true;
    const { versionId, recordingId } = this.#requestOf(requestId);
    this.stored.set(versionId, whole);
    this.#far.advance(requestId, "processing");
    return { recordingId };
  }

  /** How many parts of a request are durable. */
  durable(requestId: string): number {
    return this.#uploads.get(`upl_${requestId}`)?.parts.size ?? 0;
  }

  #requestOf(requestId: string): WantedImport {
    const request = this.#far.requests.get(requestId);
    if (!request || request.stage === "failed" || request.stage === "imported")
      throw new RefusalError("RequestSuperseded");
    return request;
  }

  #uploadOf({ requestId, uploadId }: UploadRef): Upload {
    this.#requestOf(requestId);
    const upload = this.#uploads.get(uploadId);
    return upload?.requestId === requestId ? upload : fail("UploadClosed");
  }
}

function fail(code: ConstructorParameters<typeof RefusalError>[0]): never {
  throw new RefusalError(code);
}

/** Returns the query that a target accepts. All parts and pieces of an upload have one kind of digest, which its opening named. */
function asQuery({ md5, sha256, length }: DigestFields & { length: number }, digest: DigestAlgorithm): URLSearchParams {
  const value = { md5, sha256 }[digest];
  if (value === undefined) throw new RefusalError("InvalidRequest");
  return new URLSearchParams({ [digest]: value, length: String(length) });
}

function isAnnounced(bytes: Buffer, { searchParams }: URL): boolean {
  const { length, ...expected } = Object.fromEntries(searchParams);
  return hasDigest(bytes, expected) && String(bytes.length) === length;
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
