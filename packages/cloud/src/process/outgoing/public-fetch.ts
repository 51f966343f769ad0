import { Agent, fetch } from "undici";
import { lookUpAllowed, PublicFetchError, requireAllowedUrl } from "./allowed-address.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 256 * 1024;

/** GETs an address of the public internet; follows no redirect. Throws a {@link PublicFetchError}. */
export type PublicFetch = (url: URL) => Promise<string>;

const agent = new Agent({ connect: { lookup: lookUpAllowed(), timeout: TIMEOUT_MS } });

export const fetchPublic: PublicFetch = async (url) => {
  requireAllowedUrl(url);
  try {
    const response = await fetch(url, {
      dispatcher: agent,
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status !== 200) throw new PublicFetchError(`${url.host} answered ${response.status}`);
    return await readText(response.body, url);
  } catch (error) {
    if (error instanceof PublicFetchError) throw error;
    const { cause, message } = error as Error;
    throw new PublicFetchError(`${url.host}: ${cause instanceof Error ? cause.message : message}`);
  }
};

async function readText(body: AsyncIterable<Uint8Array> | null, { host }: URL): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new PublicFetchError(`${host} answered more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
