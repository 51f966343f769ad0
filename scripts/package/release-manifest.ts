import { createPublicKey, verify } from "node:crypto";
import { isVersion } from "./versions.ts";

/** The contents of a release. The manifest's text is signed, and every file is known by its length and SHA-256. */
export interface ReleaseManifest {
  readonly product: "downlink-agent";
  readonly version: string;
  /** The oldest version that can be updated to this one directly; older ones need another step first. */
  readonly oldestFrom: string;
  /** When the commit was made; no machine's clock may stand before. */
  readonly builtAt: string;
  readonly commit: string;
  readonly files: readonly ReleaseFile[];
}

export interface ReleaseFile {
  readonly name: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** A manifest that is not what it pretends to be. Nothing of it may be used. */
export class ManifestRefusedError extends Error {
  override readonly name = "ManifestRefusedError";
}

/** The longest manifest that is looked at; a real one has a few kilobytes. */
export const MAX_MANIFEST_BYTES = 1_000_000;

/** Returns the manifest when the key signed exactly these bytes. Throws {@link ManifestRefusedError}. */
export function verifyManifest(bytes: Uint8Array, signature: Uint8Array, publicKey: string): ReleaseManifest {
  if (bytes.length > MAX_MANIFEST_BYTES) throw new ManifestRefusedError("the manifest is too long");
  if (!isSigned(bytes, signature, publicKey))
    throw new ManifestRefusedError("the manifest is not signed by the key of this machine, /etc/downlink/release.pub");
  return readManifest(Buffer.from(bytes).toString("utf8"));
}

function isSigned(bytes: Uint8Array, signature: Uint8Array, publicKey: string): boolean {
  const key = createPublicKey(publicKey);
  if (key.asymmetricKeyType !== "ed25519") throw new ManifestRefusedError("the key is no ed25519 key");
  return signature.length === 64 && verify(null, bytes, key, signature);
}

/** Reads a manifest, signed or not. Throws {@link ManifestRefusedError}. */
export function readManifest(text: string): ReleaseManifest {
  const value = parse(text) as Partial<ReleaseManifest> | null;
  const isWhole =
    value?.product === "downlink-agent" &&
    isVersion(value.version) &&
    isVersion(value.oldestFrom) &&
    typeof value.builtAt === "string" &&
    !Number.isNaN(Date.parse(value.builtAt)) &&
    typeof value.commit === "string" &&
    Array.isArray(value.files) &&
    value.files.every(isFile);
  if (!isWhole) throw new ManifestRefusedError("the text is no manifest of a release of the agent");
  return value as ReleaseManifest;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ManifestRefusedError("the manifest is no JSON", { cause: error });
  }
}

/** A file's name must not lead out of the folder into which the file is written. */
function isFile(file: Partial<ReleaseFile> | null): boolean {
  return (
    /^[A-Za-z0-9][\w.+-]*$/.test(String(file?.name)) &&
    Number.isSafeInteger(file?.sizeBytes) &&
    Number(file?.sizeBytes) > 0 &&
    /^[0-9a-f]{64}$/.test(String(file?.sha256))
  );
}

/** Returns the name of the archive for an architecture, as Node calls it. */
export function archiveName(version: string, architecture: string): string {
  return `downlink-agent-${version}-linux-${architecture}.tar.gz`;
}
