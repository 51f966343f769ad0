import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

interface Measured {
  readonly size: number;
  readonly sha256: string;
}

/** Returns the size and the hash of a file; undefined where there is no file. */
export async function measureFile(path: string, signal: AbortSignal): Promise<Measured | undefined> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (!found?.isFile()) return undefined;
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) {
    hash.update(chunk as Buffer);
    size += (chunk as Buffer).length;
  }
  return { size, sha256: hash.digest("hex") };
}
