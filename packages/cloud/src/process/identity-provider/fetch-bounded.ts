import type { CustomFetch } from "openid-client";

const MAX_BYTES = 1024 * 1024;

/** Fetches what a provider answers; of an answer without end nothing more is read, and none is of use. */
export const fetchBounded: CustomFetch = async (url, options) => {
  const answer = await fetch(url, options as RequestInit);
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_BYTES) throw new TypeError(`the provider answered more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  const { status, headers } = answer;
  return new Response(bytes === 0 ? null : Buffer.concat(pieces), { status, headers });
};
