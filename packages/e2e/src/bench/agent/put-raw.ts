// The reference for uploads: one plain PUT of a file. `put-raw.ts <link> <path>` prints how many seconds it took.
import { open } from "node:fs/promises";
import { request } from "undici";

const [link, path] = process.argv.slice(2) as [string, string];
const PIECE_BYTES = 256 * 1024;

await using file = await open(path);
const { size } = await file.stat();
const startedMs = performance.now();
const answer = await request(link, {
  method: "PUT",
  headers: { "content-type": "application/octet-stream", "content-length": String(size) },
  body: file.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false }),
  headersTimeout: 0,
  bodyTimeout: 0,
});
const text = await answer.body.text();
if (answer.statusCode !== 200) throw new Error(`the upload was refused: ${text}`);
console.log((performance.now() - startedMs) / 1000);
