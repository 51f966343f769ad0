import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { api, LakeFileReport, Output } from "@downlink/protocol";
import { digestTopics, type ExportSource, extensionOf, splitRecording, type TopicFile } from "@downlink/recordings";
import { siteIndexKey } from "../../background/indexing/index-key.ts";
import { lakeFileKey, lakeIndexKey, topicHashOf } from "../../background/indexing/lake-key.ts";
import { beginLake, removeLake } from "./lake-store.ts";
import type { SiteDeps } from "./site-deps.ts";

export type LakeDeps = Pick<SiteDeps, "blobs" | "indexer" | "log" | "stopping" | "dataDir">;

export type WantedLake = Output<typeof api.site.work>["lakes"][number];

/** A file that was written differs from the recording, so it must not be used. */
export class LakeDiffersError extends Error {
  constructor(topic: string) {
    super(`the file of topic ${topic} is not what was read from the recording`);
    this.name = "LakeDiffersError";
  }
}

/** Writes a file for each topic of an import, with its verified index, and reads each of them again to compare it with the recording. */
export async function writeLake(deps: LakeDeps, wanted: WantedLake): Promise<LakeFileReport[]> {
  const { importId } = wanted;
  await removeLake(deps.blobs, importId); // a process that was killed may have left some of it
  const spillPath = join(deps.dataDir, "split.temporary");
  await rm(spillPath, { force: true });
  await using split = await splitRecording(sourceOf(deps, wanted), { spillPath, signal: deps.stopping });
  await beginLake(
    deps.blobs,
    importId,
    split.topics.map(({ topic }) => topicHashOf(topic)),
  );
  const files: LakeFileReport[] = [];
  for (const file of split.topics) files.push(await writeFile(deps, importId, file));
  return files;
}

function sourceOf({ blobs }: LakeDeps, { key, format }: WantedLake): ExportSource {
  return {
    ...{ fileName: `recording${extensionOf(format)}`, ...ANY_TIME },
    open: () => blobs.open(key),
    openIndex: () => blobs.open(siteIndexKey(key)),
  };
}

const ANY_TIME = { startNs: -(2n ** 63n), endNs: 2n ** 63n - 1n };

async function writeFile(deps: LakeDeps, importId: string, file: TopicFile): Promise<LakeFileReport> {
  const { blobs, stopping: signal } = deps;
  const { topic, messageCount, startNs: start, endNs: end } = file;
  const name = { importId, topicHash: topicHashOf(topic) };
  const { sizeBytes: size } = await blobs.put(lakeFileKey(name), file.open(), { signal });
  const sha256 = await indexFile(deps, name);
  const open = () => blobs.open(lakeFileKey(name));
  const openIndex = () => blobs.open(lakeIndexKey(name));
  const [read, another] = await digestTopics({ fileName: "topic.mcap", ...ANY_TIME, open, openIndex }, { signal });
  if (read?.topic !== topic || read.sha256 !== file.sha256 || read.messageCount !== messageCount || another)
    throw new LakeDiffersError(topic);
  return { topic, size, sha256, messageCount, start, end };
}

/** Answers the SHA-256 of the file's bytes. */
async function indexFile(
  { blobs, indexer, stopping }: LakeDeps,
  name: { readonly importId: string; readonly topicHash: string },
): Promise<string> {
  await using reader = await blobs.open(lakeFileKey(name));
  const { contentSha256, verdict } = await indexer.index(reader, {
    ...{ fileName: "topic.mcap", signal: stopping },
    store: async (pieces) => {
      await blobs.delete(lakeIndexKey(name)); // a thread that failed may have written it
      await blobs.put(lakeIndexKey(name), pieces, { signal: stopping });
    },
  });
  if ("refusal" in verdict) throw new Error(`a file of a topic cannot be read: ${verdict.refusal.text}`);
  return contentSha256;
}
