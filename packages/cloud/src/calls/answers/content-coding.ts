import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

export type ContentCoding = "br" | "gzip";

/** The codings that we have, best first. */
const codings: readonly ContentCoding[] = ["br", "gzip"];
/** These levels give most of the gain, in a few milliseconds per megabyte. */
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/**
 * Returns the coding that the receiver accepts, by its own preference and then by ours; undefined: plain text only. spec: RFC 9110 §12.5.3
 */
export function chooseCoding(acceptEncoding: string | undefined): ContentCoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const weights = new Map(acceptEncoding.split(",").map(parseWeight));
  const weightOf = (coding: ContentCoding) => weights.get(coding) ?? weights.get("*") ?? 0;
  const [best] = codings.toSorted((one, other) => weightOf(other) - weightOf(one));
  return best && weightOf(best) > 0 ? best : undefined;
}

function parseWeight(item: string): [string, number] {
  const [coding = "", ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
  return [coding, weight === undefined ? 1 : Number.parseFloat(weight) || 0];
}

const brotliAtOnce = promisify(brotliCompress);
const gzipAtOnce = promisify(gzip);

/** Encodes outside of the event loop. */
export function encodeContent(body: Uint8Array, coding: ContentCoding): Promise<Buffer> {
  return coding === "br" ? brotliAtOnce(body, brotliOptions) : gzipAtOnce(body, gzipOptions);
}

/** Encodes a body that comes in pieces; a failure of the pieces becomes a failure of the output. */
export function encodePieces(pieces: AsyncIterable<Uint8Array>, coding: ContentCoding): AsyncIterable<Uint8Array> {
  const encoder = coding === "br" ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
  pipeline(Readable.from(pieces), encoder, () => undefined); // the reader of the output gets the error
  return encoder;
}
