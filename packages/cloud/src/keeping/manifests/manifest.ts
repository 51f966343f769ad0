// The manifests `begun` and `import` describe an upload, as JSON that people can read too. Their version is 1: fields may be added, which
// an older reader ignores; anything else is another version, which such a reader refuses and never removes.

import { z } from "zod";
import { states } from "../../db/generated/states.ts";

const Id = z.string().regex(/^[a-z0-9_-]{1,64}$/);
const Text = z.string();
/** JSON has no integers of 64 bits. */
const Integer = z.codec(z.string().regex(/^(0|-?[1-9]\d{0,18})$/), z.bigint(), { decode: BigInt, encode: String });

/** The facts of a request for a file. */
const request = {
  version: z.literal(1),
  orgId: Id,
  requestId: Id,
  source: z.enum(states.ImportRequest.source),
  /** Set for a salvage: the request whose stored file it is made of. */
  salvageOfId: Id.optional(),
  priority: z.int(),
  projectId: Id.optional(),
  /** The primary site that holds the bytes. */
  siteId: Id,
  deviceId: Id.optional(),
  deviceName: Text.optional(),
  /** The path on the device, or the file name. */
  filename: Text,
  key: Text.optional(),
  sessionId: Id.optional(),
  sessionKey: Text.optional(),
  /** The id of the recording that it becomes, once it is imported. */
  recordingId: Id,
  importId: Id,
  requestedAtNs: Integer,
};

export const DescribedRequest = z.object(request);
export type DescribedRequest = z.output<typeof DescribedRequest>;

/** The facts of an upload that are known before its first byte. */
const upload = {
  ...request,
  uploadId: Id,
  /** Agents send parts, and an upload link takes one stream. */
  uploadKind: z.enum(states.Upload.kind),
  sizeBytes: Integer.optional(),
  partSizeBytes: Integer.optional(),
  /** The origin of the file, if an agent has it. */
  edge: z.object({ agentId: Id, siteId: Id.optional(), versionId: Text, modifiedAtNs: Integer }).optional(),
  begunAtNs: Integer,
};

export const Begun = z.object({ ...upload, kind: z.literal("begun") });
export type Begun = z.output<typeof Begun>;

/** The same facts with those that the import found. Fields that the import resolved have the resolved values. */
export const Imported = z.object({
  ...upload,
  kind: z.literal("import"),
  sizeBytes: Integer,
  projectId: Id,
  /** The hash of the stored bytes, as the cloud computed it. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  format: z.enum(states.Recording.format),
  startNs: Integer,
  endNs: Integer,
  messageCount: Integer,
  /** The key of the verified index. A later attempt may have made another one. */
  indexKey: Text,
  /** How often the file arrived with other bytes than its agent had announced. */
  redeliveries: z.int(),
  /** When the row of the recording was made, if it is older than this manifest: an agent reported the recording, say. */
  reportedAtNs: Integer.optional(),
  importedAtNs: Integer,
});
export type Imported = z.output<typeof Imported>;

export type Manifest = Begun | Imported;
export type ManifestKind = Manifest["kind"];

export const MANIFESTS = "manifests/";

const schemas = { begun: Begun, import: Imported } as const;

/** The manifests of an object stand beside it under its own key, organization and upload. */
export function manifestKey(blobKey: string, kind: ManifestKind): string {
  return `${MANIFESTS}${blobKey}/${kind}`;
}

/** Only uploads have manifests, because an index can be made again. */
export function isUploadKey(blobKey: string): boolean {
  return /^[^/]+\/upl_/.test(blobKey);
}

/** Returns the object whose manifest a note in the store is; undefined if the note is no manifest. */
export function readManifestKey(key: string): { blobKey: string; kind: ManifestKind } | undefined {
  const [, blobKey, kind] = /^manifests\/([^/]+\/[^/]+)\/(begun|import)$/.exec(key) ?? [];
  return blobKey === undefined ? undefined : { blobKey, kind: kind as ManifestKind };
}

/** The same manifest always makes the same bytes. */
export function writeText(manifest: Manifest): Buffer {
  return Buffer.from(`${JSON.stringify(z.encode<z.ZodType<Manifest>>(schemas[manifest.kind], manifest), null, 1)}\n`);
}

/** A note that is no manifest of its key, so that it must have been written elsewhere. */
export class ManifestError extends Error {
  constructor(key: string, fault: string) {
    super(`${key} is no manifest that this program understands: ${fault}`);
    this.name = "ManifestError";
  }
}

/** Throws a {@link ManifestError} for a text that is no manifest, or that belongs to another object. */
export function parseManifest<K extends ManifestKind>(
  blobKey: string,
  kind: K,
  bytes: Uint8Array,
): z.output<(typeof schemas)[K]> {
  const key = manifestKey(blobKey, kind);
  const { data, error } = schemas[kind].safeParse(parseJson(key, bytes));
  if (error) throw new ManifestError(key, z.prettifyError(error));
  if (`${data.orgId}/${data.uploadId}` !== blobKey)
    throw new ManifestError(key, `it is of ${data.orgId}/${data.uploadId}`);
  return data as z.output<(typeof schemas)[K]>;
}

function parseJson(key: string, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch (error) {
    if (error instanceof SyntaxError) throw new ManifestError(key, error.message);
    throw error;
  }
}
