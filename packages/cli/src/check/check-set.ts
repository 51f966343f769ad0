import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { TrainingFormat } from "@downlink/protocol";
import { countOf } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { RefusedError, UsageError } from "../failures/failures.ts";
import type { Form } from "../lists/list.ts";
import { writeList } from "../lists/write-list.ts";
import { checkRows } from "./check-rows.ts";
import type { Finding, Say } from "./finding.ts";
import { readInfo, readJson } from "./read-info.ts";
import { checkStatistics, listTables, readEpisodes, readTasks, type SetEpisode } from "./read-meta.ts";

interface Checking {
  readonly folder: string;
  /** The format of the output. */
  readonly format: string;
  readonly output: NodeJS.WriteStream;
  readonly notes: NodeJS.WritableStream;
}

const form: Form<Finding> = {
  things: "findings",
  head: ["SEVERITY", "CHECK", "EPISODE", "TEXT"],
  cells: ({ severity, check, episode, text }) => [severity, check, episode === undefined ? "-" : `${episode}`, text],
  fields: ["severity", "check", "episode", "text"],
  encode: (rows) => rows,
};

/**
 * Compares a folder with what a LeRobot reader expects, and prints each finding. Throws {@link RefusedError} where one is an error, and
 * {@link UsageError} for a set of another format.
 */
export async function checkSet({ folder, format, output, notes }: Checking): Promise<void> {
  await requireLeRobot(folder);
  const findings: Finding[] = [];
  const found = await findAll(folder, (check, text, more) =>
    findings.push({ check, severity: "error", text, ...more }),
  );
  if (findings.length > 0 || format !== "table")
    writeList({ page: { rows: findings, isMore: false }, form }, format, { output, notes });
  const errors = findings.filter(({ severity }) => severity === "error").length;
  if (errors > 0) throw new RefusedError(`${folder} is not a whole set: ${countOf(errors, "error")}`);
  const { episodes = 0, rows = 0 } = found ?? {};
  notes.write(`${printable(folder)}: ${countOf(episodes, "episode")}, ${countOf(rows, "row")}, no error\n`);
}

/** Sets of other formats are known by their `downlink.json`; folders without one may come from anywhere. */
async function requireLeRobot(folder: string): Promise<void> {
  const about = await readJson(folder, "downlink.json", () => undefined);
  const format = about?.format;
  if (typeof format === "string" && format !== LEROBOT)
    throw new UsageError(`${folder} is a set of the format ${format}, and check knows sets of ${LEROBOT} only`);
}

const LEROBOT: TrainingFormat = "lerobot-v3";

async function findAll(folder: string, say: Say): Promise<{ episodes: number; rows: number } | undefined> {
  const info = await readInfo(folder, say);
  if (!info) return undefined;
  await checkStatistics(folder, info, say);
  const taskCount = await readTasks(folder, info, say);
  const episodes = await readEpisodes(folder, info, say);
  if (!episodes) return undefined;
  await checkFiles(folder, episodes, say);
  const rows = await checkRows({ folder, info, episodes, taskCount }, say);
  return { episodes: episodes.length, rows };
}

/** Missing files with rows are found when they are read. */
async function checkFiles(folder: string, episodes: readonly SetEpisode[], say: Say): Promise<void> {
  const named = new Set(episodes.map(({ data }) => data));
  for (const path of await listTables(folder, "data"))
    if (!named.has(path)) say("files", `${path} is of no episode, and readers load it all the same`);
  for (const path of new Set(episodes.flatMap(({ videos }) => videos)))
    if (!(await isFile(join(folder, path)))) say("files", `${path} is missing`);
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  });
  return found?.isFile() ?? false;
}
