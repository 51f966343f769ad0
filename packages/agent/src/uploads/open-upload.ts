import type { DigestAlgorithm, Piece } from "@downlink/protocol";
import type { FileSource } from "@downlink/recordings";
import type { Dispatcher } from "undici";
import type { CloudSession } from "../cloud/session.ts";
import type { FileHash } from "../files/hash-file.ts";
import type { Storage } from "../files/open-tracked.ts";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import type { Throttle } from "./throttle.ts";
import type { TransferMeter } from "./transfers.ts";
import type { HashPlan, PartHashes } from "./upload-parts.ts";

export interface UploadJob {
  readonly session: CloudSession;
  readonly dispatcher: Dispatcher;
  readonly throttle: Throttle;
  readonly storage: Storage;
  readonly requestId: string;
  readonly file: TrackedFile;
  /** For a given plan: hashes that an earlier try may have begun. */
  readonly hashesFor: (plan: HashPlan) => PartHashes;
  readonly forgetHashes: () => void;
  /** Whether a rewrite of the file with its times set back would show. */
  readonly showsChanges: () => Promise<boolean>;
  /** Hears of the hash of the whole file before the cloud does. Throws {@link ContentMismatchError} for that of another version. */
  readonly onHashed: (hash: FileHash) => void;
  /** Of the file as it is, where it is known. */
  readonly knownSha256: string | undefined;
  /** The same, by reading all of it. */
  readonly hashWhole: (signal: AbortSignal) => Promise<string>;
  readonly meter: TransferMeter;
  /** Hears of each part, and of each piece of one, that came through, with its bytes. */
  readonly onPart: (bytes: number) => void;
  /** Hears of each try of a part that failed. */
  readonly onPartFailed: (failure: unknown) => void;
  readonly signal: AbortSignal;
}

export interface OpenUpload {
  readonly job: UploadJob;
  readonly source: FileSource;
  readonly uploadId: string;
  /** What the cloud wants parts and pieces told by. */
  readonly digest: DigestAlgorithm;
  /** Undefined where the cloud takes whole parts only. */
  readonly pieces?: PiecesOfParts;
}

export interface PiecesOfParts {
  /** The least that one holds, but for the last one of its part. */
  readonly minBytes: number;
  /** What the cloud held when the upload was opened. */
  readonly held: readonly (Piece & { readonly number: number })[];
}

/** The file's bytes are not those that the cloud holds of this version, although nothing else about the file changed. */
export class PartMismatchError extends Error {
  constructor(path: string, part: number) {
    super(`${path} differs in part ${part} from what was sent of this version before`);
    this.name = "PartMismatchError";
  }
}

/** What was sent is not what was once known to be the content of this version. */
export class ContentMismatchError extends Error {
  constructor(path: string) {
    super(`${path} holds another content than that of the version that was asked for`);
    this.name = "ContentMismatchError";
  }
}
