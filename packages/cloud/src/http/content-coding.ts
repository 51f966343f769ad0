import { pipeline, Readable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

export type ContentCoding = "br" | "gzip";

/** Ours, best first. */
const codings: readonly ContentCoding[] = ["br", "gzip"];
/** They give most of what there is to gain, in a few milliseconds a megabyte. */
const gzipOptions = { level: 4 };
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

/** What the receiver takes, by its own preference and then by ours; undefined: the plain text alone. spec: RFC 9110 §12.5.3 */
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

/** Outside of the event loop. */
export function encodeContent(body: Uint8Array, coding: ContentCoding): Promise<Buffer> {
  return coding === "br" ? brotliAtOnce(body, brotliOptions) : gzipAtOnce(body, gzipOptions);
}

/** The same of a body that comes in pieces; a failure of these is one of what comes out. */
export function encodePieces(pieces: AsyncIterable<Uint8Array>, coding: ContentCoding): AsyncIterable<Uint8Array> {
  const encoder = coding === "br" ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
  pipeline(Readable.from(pieces), encoder, () => undefined); // whoever reads hears of it
  return encoder;
}
