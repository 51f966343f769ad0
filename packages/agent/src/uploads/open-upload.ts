import type { Transport } from "@downlink/client";
import type { DigestAlgorithm, Piece } from "@downlink/protocol";
import type { FileSource } from "@downlink/recordings";
import type { Tracing } from "@downlink/tracing";
import type { Dispatcher } from "undici";
import type { CloudSession } from "../cloud/session.ts";
import type { FileHash } from "../files/hash-file.ts";
import type { Storage } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { Sites } from "./sites.ts";
import type { Throttle } from "./throttle.ts";
import type { TransferMeter } from "./transfers.ts";
import type { HashPlan, PartHashes } from "./upload-parts.ts";
import type { UploadPlace } from "./upload-place.ts";

export interface UploadJob {
  readonly session: CloudSession;
  readonly dispatcher: Dispatcher;
  /** By which self-hosted sites are called. */
  readonly transport: Transport;
  readonly tracing: Tracing;
  readonly sites: Sites;
  readonly throttle: Throttle;
  readonly storage: Storage;
  readonly requestId: string;
  readonly file: TrackedFile;
  /** Returns the hashes for a plan, which an earlier try may have begun. */
  readonly hashesFor: (plan: HashPlan) => PartHashes;
  readonly forgetHashes: () => void;
  /** Whether a rewrite of the file with its times restored would show. */
  readonly showsChanges: () => Promise<boolean>;
  /** Is called with the hash of the whole file before it is sent. Throws {@link ContentMismatchError} for the hash of another version. */
  readonly onHashed: (hash: FileHash) => void;
  /** The hash of the file as it is, where it is known. */
  readonly knownSha256: string | undefined;
  /** Makes the hash by reading the whole file. */
  readonly hashWhole: (signal: AbortSignal) => Promise<string>;
  readonly meter: TransferMeter;
  /** Is called with the bytes of each part or piece that is durable. */
  readonly onPart: (bytes: number) => void;
  /** Is called for each failed try of a part. */
  readonly onPartFailed: (failure: unknown) => void;
  readonly signal: AbortSignal;
}

export interface OpenUpload {
  readonly job: UploadJob;
  readonly source: FileSource;
  readonly place: UploadPlace;
  readonly uploadId: string;
  /** The kind of digest that the place wants for parts and pieces. */
  readonly digest: DigestAlgorithm;
  /** Undefined where the cloud takes whole parts only. */
  readonly pieces?: PiecesOfParts;
}

export interface PiecesOfParts {
  /** The smallest piece, except for the last one of a part. */
  readonly minBytes: number;
  /** The pieces that the cloud held when the upload was opened. */
  readonly held: readonly (Piece & { readonly number: number })[];
}

/** The file's bytes differ from those that the cloud holds of this version, although nothing else about the file changed. */
export class PartMismatchError extends Error {
  constructor(path: string, part: number) {
    super(`${path} differs in part ${part} from what was sent of this version before`);
    this.name = "PartMismatchError";
  }
}

/** The bytes that were sent differ from the known content of this version. */
export class ContentMismatchError extends Error {
  constructor(path: string) {
    super(`${path} does not hold the content of the requested version`);
    this.name = "ContentMismatchError";
  }
}
