import { createHash } from "node:crypto";
import { getStream } from "@downlink/client/node";
import { formatBytes } from "@downlink/terminal/amounts";
import { RefusedError } from "../failures/failures.ts";
import type { Service } from "../login/open-service.ts";
import { type OutputFile, openOutput } from "./output-file.ts";
import { showProgress } from "./progress.ts";
import { waitOut } from "./wait-out.ts";

/** A file behind a link that serves ranges. */
export interface RangedFile {
  readonly sizeBytes: number;
  /** The SHA-256 of its bytes in hexadecimal, which is the tag of the link too. */
  readonly sha256: string;
  /** Asks for the link, which may have expired since it was asked for last. */
  link(): Promise<string>;
}

interface Target {
  readonly path: string;
  readonly force: boolean;
  /** Is called with the bytes that came, in the place of the progress on the standard error. */
  readonly onBytes?: (count: number) => void;
}

/**
 * Fetches a file, going on where a connection broke, also where an earlier call was ended. It gets its name once its SHA-256 is right. Throws
 * {@link RefusedError} for bytes that are not those of the recording.
 */
export async function fetchFile(service: Service, file: RangedFile, target: Target): Promise<OutputFile> {
  const { path, force, onBytes } = target;
  await using output = await openOutput(path, { force, resumeAs: file.sha256.slice(0, 16) });
  if (output.sizeBytes > file.sizeBytes) await output.discard();
  const hash = createHash("sha256");
  for await (const chunk of output.written()) hash.update(chunk);
  if (output.sizeBytes > 0 && !onBytes) process.stderr.write(`dl: ${formatBytes(output.sizeBytes)} are here already\n`);
  using progress = showProgress(process.stderr);
  for await (const chunk of fetchRest(service, file, output.sizeBytes)) {
    hash.update(chunk);
    await output.write(chunk);
    (onBytes ?? progress.add)(chunk.length);
  }
  if (hash.digest("hex") !== file.sha256) {
    await output.discard();
    throw new RefusedError(`the bytes that came are not those that were uploaded (SHA-256); nothing was kept`);
  }
  await output.keep();
  return output;
}

/** Yields the bytes from the offset on. Each break is waited out, until several in a row brought nothing. */
export async function* fetchRest(service: Service, file: RangedFile, offset: number): AsyncGenerator<Buffer> {
  const { signal, dispatcher } = service;
  let [at, failures, link] = [offset, 0, await file.link()];
  while (at < file.sizeBytes) {
    const from = at === 0 ? {} : { from: { offset: at, etag: file.sha256 } };
    try {
      for await (const chunk of getStream(link, { signal, dispatcher, ...from })) {
        [at, failures] = [at + chunk.length, 0];
        yield chunk;
      }
    } catch (error) {
      failures += 1;
      if (await waitOut(error, failures, signal)) link = await file.link();
    }
  }
}
