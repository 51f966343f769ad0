// Changed display names of extensions are 409, because they depend on what was published before; other errors of a manifest are 400.

import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { explainIssue, PathSegment, StorableText } from "@downlink/protocol";
import { z } from "zod";
import { invalid, invalidRequest } from "../../core/errors.ts";
import { locateContent, readZipDirectory, refuseZip, type ZipEntry, type ZipSource } from "./zip-directory.ts";

const FILE = "package.json";
const MAX_MANIFEST_BYTES = 1024 * 1024;
const STORED = 0;
const DEFLATED = 8;

const Line = StorableText.trim()
  .min(1)
  .max(256)
  .regex(/^\P{Cc}*$/u, "may not hold control characters");
/** A name may have a scope, as in `@acme/turtle`. */
const Name = Line.refine(
  (name) => name.split("/").every((segment) => PathSegment.safeParse(segment).success),
  "may not hold . or .. as a segment, nor an empty one",
);
const Manifest = z.object({
  name: Name,
  publisher: Name,
  version: Name,
  displayName: Line,
  description: StorableText.max(10_000).nullish(),
});
/** The fields of the `package.json` at the root of a package. */
export type Manifest = z.infer<typeof Manifest>;

/** Throws a 400 that says what is wrong with the zip or with its manifest. Reads no more than these two need. spec: Extensions/Publish */
export async function readManifest(source: ZipSource): Promise<Manifest> {
  const entries = await readZipDirectory(source);
  const entry = entries.find(({ name }) => name === FILE) ?? refuseZip(`has no ${FILE} at its root`);
  const parsed = Manifest.safeParse(parseJson(await readContent(source, entry)), { error: explainIssue });
  if (parsed.success) return parsed.data;
  throw invalidRequest(new z.ZodError(parsed.error.issues.map((issue) => ({ ...issue, path: [FILE, ...issue.path] }))));
}

async function readContent(source: ZipSource, entry: ZipEntry): Promise<Uint8Array> {
  const { method, sizeBytes, compressedBytes } = entry;
  if (Math.max(sizeBytes, compressedBytes) > MAX_MANIFEST_BYTES)
    refuseZip(`holds a ${FILE} of ${sizeBytes} bytes; ${MAX_MANIFEST_BYTES} may be`);
  if (method !== STORED && method !== DEFLATED) refuseZip(`holds a ${FILE} packed by the unknown method ${method}`);
  const packed = await source.read(await locateContent(source, entry), compressedBytes);
  const content = method === STORED ? packed : await inflate(packed, sizeBytes);
  if (content.length !== sizeBytes || crc32(content) !== entry.crc32) refuseZip(`holds a damaged ${FILE}`);
  return content;
}

async function inflate(packed: Uint8Array, sizeBytes: number): Promise<Uint8Array> {
  try {
    return await promisify(inflateRaw)(packed, { maxOutputLength: sizeBytes + 1 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_BUFFER_TOO_LARGE" && !code?.startsWith("Z_")) throw error;
    return refuseZip(`holds a damaged ${FILE}`);
  }
}

function parseJson(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    return invalid(FILE, `is no JSON in UTF-8: ${error.message}`);
  }
}
