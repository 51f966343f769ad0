import { createHash } from "node:crypto";
import { ApiCallError } from "@downlink/client";
import { getStream } from "@downlink/client/node";
import { type CallInput, exportLinks } from "@downlink/protocol";
import { RefusedError } from "../failures/failures.ts";
import { fetchFile } from "../files/fetch-file.ts";
import { openOutput } from "../files/output-file.ts";
import { endView, prepareView } from "../files/prepare-view.ts";
import { waitOut } from "../files/wait-out.ts";
import type { Service } from "../login/open-service.ts";
import type { Result } from "./manifest.ts";

interface Target {
  readonly episodeId: string;
  readonly projectId: string;
  readonly path: string;
  readonly onBytes: (count: number) => void;
}

type Selection = CallInput<typeof exportLinks.create>;

/**
 * Writes the data of an episode to a file, all of it or none. The service makes the file first, so that it can be fetched in parts; where it
 * does not, because that would be too large or the key may not ask for it, the data is streamed in one go. Returns why there is no file where
 * the service has not all of the data.
 */
export async function fetchEpisode(service: Service, target: Target): Promise<Result> {
  const selection = { episodeId: target.episodeId, projectId: target.projectId, requireComplete: true } as const;
  try {
    return (await fetchPrepared(service, selection, target)) ?? (await fetchStream(service, selection, target));
  } catch (error) {
    if (isMissing(error)) return { missing: error.message };
    throw error;
  }
}

const MISSING_CODES: ReadonlySet<string | undefined> = new Set(["Incomplete", "NoStreamableRecordings", "NotFound"]);

function isMissing(error: unknown): error is ApiCallError {
  return error instanceof ApiCallError && MISSING_CODES.has(error.code);
}

async function fetchPrepared(service: Service, selection: Selection, target: Target): Promise<Result | undefined> {
  const { path, onBytes } = target;
  const view = await prepareView(service, { ...selection, as: "file" }).catch((error: unknown) => {
    const isRefused = error instanceof RefusedError || (error instanceof ApiCallError && error.status < 500);
    if (isRefused && !isMissing(error)) return undefined;
    throw error;
  });
  if (!view?.contentSha256) return undefined;
  const file = { sizeBytes: view.size ?? 0, sha256: view.contentSha256, link: async () => view.link };
  await fetchFile(service, file, { path, force: true, onBytes });
  await endView(service, view.id);
  return { size: file.sizeBytes, sha256: file.sha256, ...(view.damage && { damaged: true }) };
}

async function fetchStream(service: Service, selection: Selection, { path, onBytes }: Target): Promise<Result> {
  const { client, signal, dispatcher } = service;
  for (let failures = 1; ; failures += 1) {
    try {
      const { link, damage } = await client.call(exportLinks.create, selection);
      await using output = await openOutput(path, { force: true });
      const hash = createHash("sha256");
      for await (const chunk of getStream(link, { signal, dispatcher })) {
        hash.update(chunk);
        await output.write(chunk);
        onBytes(chunk.length);
      }
      await output.keep();
      return { size: output.sizeBytes, sha256: hash.digest("hex"), ...(damage && { damaged: true }) };
    } catch (error) {
      await waitOut(error, failures, signal);
    }
  }
}
