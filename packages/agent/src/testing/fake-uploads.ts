import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Piece, WantedImport } from "@downlink/protocol";
import { FakePieces, type HeldBytes } from "./fake-pieces.ts";
import { Refusal } from "./refusal.ts";

interface Upload {
  readonly requestId: string;
  readonly size: number;
  readonly partSize: number;
  readonly parts: Map<number, Buffer>;
  readonly pieces: FakePieces;
  isStored: boolean;
}

interface FarSide {
  readonly publicUrl: string;
  readonly requests: ReadonlyMap<string, WantedImport>;
  advance(requestId: string, stage: WantedImport["stage"], reason?: WantedImport["reason"]): void;
}

type OpenInput = { requestId: string; versionId: string; size: number; partSize?: number; sha256?: string };
type UploadRef = { requestId: string; uploadId: string };

/** Uploads by parts, with the rules of the contract: a part is verified before it counts, and never rewritten. */
export class FakeUploads {
  partSize = 64 * 1024;
  /** Whether parts may come in pieces; older clouds took whole ones only. */
  takesPieces = false;
  /** Pieces that were received whole, in order of arrival, repeats included. */
  readonly receivedPieces: { readonly number: number; readonly offset: number; readonly length: number }[] = [];
  /** Bytes of every stored version, by version id. */
  readonly stored = new Map<string, Buffer>();
  /** Numbers of the parts that were received whole, in order of arrival, repeats included. */
  readonly received: number[] = [];
  /** The part size that each opening wished for. */
  readonly wishes: (number | undefined)[] = [];
  /** Contents of other recordings by their SHA-256, with how those are named; while there are any, files are to be hashed. */
  readonly originals = new Map<string, string>();
  /** A new upload begins with this part, and with other bytes in it than any file has. */
  corruptPart: number | undefined;
  readonly #uploads = new Map<string, Upload>();
  readonly #far: FarSide;

  constructor(far: FarSide) {
    this.#far = far;
  }

  open({ requestId, versionId, size, partSize, sha256 = "" }: OpenInput): unknown {
    this.wishes.push(partSize);
    const request = this.#requestOf(requestId);
    if (request.versionId !== versionId) throw new Refusal("VersionSuperseded");
    const original = this.originals.get(sha256);
    if (original !== undefined) {
      const text = `the same content was imported already as recording ${original}`;
      this.#far.advance(requestId, "failed", { code: "DuplicateContent", text });
      throw new Refusal("RequestSuperseded");
    }
    const wantsSha256 = (this.originals.size > 0 && sha256 === "") || undefined;
    const uploadId = `upl_${requestId}`;
    const upload = this.#uploads.get(uploadId) ?? {
      requestId,
      size,
      partSize: this.partSize,
      parts: new Map(),
      pieces: new FakePieces(),
      isStored: false,
    };
    this.#uploads.set(uploadId, upload);
    if (this.corruptPart !== undefined) upload.parts.set(this.corruptPart, Buffer.alloc(upload.partSize, 0xee));
    const parts = Array.from(upload.parts, ([number, bytes]) => ({ number, md5: md5Of(bytes), length: bytes.length }));
    const pieces = this.takesPieces ? { minBytes: 64 * 1024, held: upload.pieces.all() } : undefined;
    return { uploadId, partSize: upload.partSize, isStored: upload.isStored, parts, pieces, wantsSha256 };
  }

  grant({
    requestId,
    uploadId,
    parts,
  }: UploadRef & { parts: { number: number; md5: string; length: number }[] }): unknown {
    this.#uploadOf({ requestId, uploadId });
    return {
      grants: parts.map(({ number, md5, length }) => ({
        number,
        url: `${this.#far.publicUrl}/parts/${uploadId}/${number}?md5=${encodeURIComponent(md5)}&length=${length}`,
        headers: { "content-md5": md5 },
      })),
    };
  }

  async receivePart(url: URL, request: IncomingMessage): Promise<unknown> {
    const [, , uploadId = "", number = ""] = url.pathname.split("/");
    const bytes = await readBytes(request);
    const isRight =
      md5Of(bytes) === url.searchParams.get("md5") && String(bytes.length) === url.searchParams.get("length");
    if (!isRight) throw new Refusal("DigestMismatch");
    this.received.push(Number(number));
    const { parts } = this.#uploads.get(uploadId) ?? fail("UploadClosed");
    if (!parts.has(Number(number))) parts.set(Number(number), bytes);
    return {};
  }

  grantPieces({ requestId, uploadId, number, pieces }: UploadRef & { number: number; pieces: Piece[] }): unknown {
    const upload = this.#uploadOf({ requestId, uploadId });
    const urlOf = ({ offset, md5, length }: Piece) =>
      `${this.#far.publicUrl}/pieces/${uploadId}/${number}/${offset}?md5=${encodeURIComponent(md5)}&length=${length}`;
    return upload.pieces.grant(number, pieces, urlOf);
  }

  async receivePiece(url: URL, request: IncomingMessage): Promise<unknown> {
    const [, , uploadId = "", number = "", offset = ""] = url.pathname.split("/");
    const bytes = await readBytes(request);
    if (md5Of(bytes) !== url.searchParams.get("md5")) throw new Refusal("DigestMismatch");
    const piece = { number: Number(number), offset: Number(offset) };
    this.receivedPieces.push({ ...piece, length: bytes.length });
    const { pieces } = this.#uploads.get(uploadId) ?? fail("UploadClosed");
    pieces.receive(piece.number, { offset: piece.offset, bytes });
    return {};
  }

  composePart({
    requestId,
    uploadId,
    number,
    ...told
  }: UploadRef & { number: number; md5: string; length: number }): unknown {
    const { parts, pieces } = this.#uploadOf({ requestId, uploadId });
    if (!parts.has(number)) parts.set(number, pieces.compose(number, told));
    return {};
  }

  /** What is held of one part in pieces; a test may change it. */
  pieces(requestId: string, number: number): HeldBytes[] {
    return this.#uploads.get(`upl_${requestId}`)?.pieces.of(number) ?? [];
  }

  complete({
    requestId,
    uploadId,
    parts,
    sha256,
  }: UploadRef & { parts: { number: number; md5: string }[]; sha256: string }): unknown {
    const upload = this.#uploadOf({ requestId, uploadId });
    const bytes = parts.map(({ number, md5 }) => {
      const part = upload.parts.get(number) ?? fail("PartsMissing");
      return md5Of(part) === md5 ? part : fail("DigestMismatch");
    });
    const whole = Buffer.concat(bytes);
    if (whole.length !== upload.size) throw new Refusal("PartsMissing");
    if (createHash("sha256").update(whole).digest("hex") !== sha256) throw new Refusal("DigestMismatch");
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
    if (!request || request.stage === "failed" || request.stage === "imported") throw new Refusal("RequestSuperseded");
    return request;
  }

  #uploadOf({ requestId, uploadId }: UploadRef): Upload {
    this.#requestOf(requestId);
    const upload = this.#uploads.get(uploadId);
    return upload?.requestId === requestId ? upload : fail("UploadClosed");
  }
}

function fail(code: ConstructorParameters<typeof Refusal>[0]): never {
  throw new Refusal(code);
}

function md5Of(bytes: Buffer): string {
  return createHash("md5").update(bytes).digest("base64");
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
