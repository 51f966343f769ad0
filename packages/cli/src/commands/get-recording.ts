import { pipeline } from "node:stream/promises";
import { api } from "@downlink/protocol";
import { formatBytes } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError } from "../failures/failures.ts";
import { fetchFile, fetchRest, type RangedFile } from "../files/fetch-file.ts";
import { safeName } from "../files/safe-name.ts";
import { readArgument, readFilters } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";

/** The flags of `dl get`. */
export interface GetFlags {
  readonly output?: string;
  readonly project?: string;
  readonly force?: true;
}

/** Fetches the file of a recording as it was uploaded. Throws {@link RefusedError}, and what the service and the disk refuse. */
export async function getRecording(service: Service, recording: string, flags: GetFlags): Promise<void> {
  const operation = api.recordingFiles.link;
  const keyOrId = readArgument(operation, "keyOrId", { name: "RECORDING", text: recording });
  const inProject = readFilters(operation, { project: flags.project }, { project: "projectId" });
  const ask = () => service.client.call(operation, { keyOrId, ...inProject });
  const made = await ask();
  const { fileName, size, contentSha256 } = made;
  if (contentSha256 === undefined)
    throw new RefusedError(
      "the SHA-256 of the file is not known, so it cannot be checked; dl export writes its messages",
    );
  let first: string | undefined = made.link;
  const link = async () => {
    const next = first ?? (await ask()).link;
    first = undefined;
    return next;
  };
  const file: RangedFile = { sizeBytes: Number(size), sha256: contentSha256, link };
  if (flags.output === "-") return await pipeline(fetchRest(service, file, 0), process.stdout, { end: false });
  const path = flags.output ?? safeName(fileName);
  const output = await fetchFile(service, file, { path, force: flags.force === true });
  process.stderr.write(`${printable(output.path)}: ${formatBytes(output.sizeBytes)}, its SHA-256 is right\n`);
}
