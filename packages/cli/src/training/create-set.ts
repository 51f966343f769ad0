import { api, type TrainingFormat, type TrainingMapping, type TrainingSet } from "@downlink/protocol";
import { countOf, formatBytes } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { UsageError } from "../failures/failures.ts";
import { readWhole } from "../flags/whole-number.ts";
import { timeText } from "../lists/cell-texts.ts";
import type { Service } from "../login/open-service.ts";
import { findCommitted } from "../pull/find-version.ts";
import { pullReady } from "./pull-set.ts";
import { readMapping } from "./read-mapping.ts";
import { waitForSet } from "./wait-for-set.ts";

/** The arguments and flags of `dl training-set create`. */
export interface CreateFlags {
  readonly dataset: string;
  readonly version: string | undefined;
  /** The file. */
  readonly mapping: string;
  readonly name?: string;
  /** Absent: what the mapping is for. */
  readonly format?: TrainingFormat;
  readonly missing: "fail" | "leaveOut";
  readonly keepDays?: string;
  readonly project?: string;
  readonly folder?: string;
  readonly output: NodeJS.WritableStream;
  readonly notes: NodeJS.WriteStream;
}

const MOST_DAYS = 365;
const MOST_SAID = 20;

/** Builds a training set and waits for it, and fetches it where a folder is named. Throws {@link UsageError} and {@link RefusedError}. */
export async function createSet(service: Service, flags: CreateFlags): Promise<void> {
  const { missing, folder, output, notes, keepDays: days } = flags;
  const keepDays = days === undefined ? undefined : readWhole("--keep-days", days, { least: 1, most: MOST_DAYS });
  const named = await readMapping(flags.mapping, flags.name);
  const format = chooseFormat(named.mapping, flags.format);
  const { dataset, version } = await findCommitted(service, flags);
  const { id: datasetId, name } = dataset;
  const { versionNumber } = version;
  const mapping = await service.client.call(api.datasetMappings.create, { id: datasetId, ...named });
  const wanted = { mappingId: mapping.id, format, missing, ...(keepDays !== undefined && { keepDays }) };
  const made = await service.client.call(api.trainingSets.create, { id: datasetId, versionNumber, ...wanted });
  const { id } = made;
  const how = `${mapping.name}, revision ${mapping.revision}`;
  notes.write(`dl: ${id} is version ${versionNumber} of ${printable(`${name} by the mapping ${how}`)}\n`);
  const set = await waitForSet(service, made, notes);
  noteLeftOut(set, notes);
  noteWarnings(set, notes);
  const { fileCount = 0, totalBytes = 0, expiresAt } = set;
  const size = `${countOf(fileCount, "file")}, ${formatBytes(totalBytes)}`;
  output.write(`${id}  ready  ${size}, kept until ${timeText(expiresAt)}\n`);
  if (folder !== undefined) await pullReady(service, set, { folder, notes });
}

/** Throws {@link UsageError} for a mapping without what the format is made of. */
function chooseFormat({ features, topics }: TrainingMapping, given: TrainingFormat | undefined): TrainingFormat {
  const format = given ?? (features ? "lerobot-v3" : "parquet");
  const isMade = format === "parquet" ? topics : features;
  if (isMade) return format;
  throw new UsageError(
    `the mapping has no ${format === "parquet" ? "topics" : "features"}, of which ${format} is made`,
  );
}

function noteLeftOut({ episodes = [] }: TrainingSet, notes: NodeJS.WriteStream): void {
  const left = episodes.filter(({ leftOut }) => leftOut !== undefined);
  for (const { episodeId, leftOut } of left.slice(0, MOST_SAID))
    notes.write(`dl: ${printable(`${episodeId} is not in the set, or not all of it: ${leftOut}`)}\n`);
  if (left.length > MOST_SAID)
    notes.write(`dl: the same holds for ${countOf(left.length - MOST_SAID, "more episode")}\n`);
}

/** Says what is odd in the rows, and may be right. */
function noteWarnings({ episodes = [] }: TrainingSet, notes: NodeJS.WriteStream): void {
  const all = episodes.flatMap(({ episodeId, warnings = [] }) => warnings.map(({ text }) => `${episodeId}: ${text}`));
  for (const text of all.slice(0, MOST_SAID)) notes.write(`dl: ${printable(text)}\n`);
  if (all.length > MOST_SAID) notes.write(`dl: there are ${countOf(all.length - MOST_SAID, "more warning")}\n`);
}
