import { type Command, InvalidArgumentError } from "commander";
import type { Deps } from "../calls/context/context.ts";
import { CommandError } from "../core/command-error.ts";
import { ApiError } from "../core/errors.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { retryImport } from "../imports/pending-imports/retry-import.ts";
import { operatorIn } from "./act-as-operator.ts";
import { print, toTime } from "./print-rows.ts";

interface Deployment {
  /** Opens the database and the stores, even beside a running control plane. */
  beside(use: (deps: Deps) => Promise<void>): Promise<void>;
}

interface Flags {
  readonly retry?: string;
  readonly limit: number;
  readonly json: boolean;
}

const DEFAULT_LIMIT = 100;

export function addImportCommand(admin: Command, { beside }: Deployment): void {
  admin
    .command("imports")
    .description(
      "show how many imports of all organizations wait, run and fail, and the last that failed, newest first",
    )
    .option("--retry <id>", "try this failed import again; all: each one that is shown")
    .option("--limit <number>", "show at most so many that failed", readCount, DEFAULT_LIMIT)
    .option("--json", "print each state and each failed import as a line of JSON", false)
    .addHelpText("after", "\nExamples:\n  downlink admin imports\n  downlink admin imports --retry all --limit 1000")
    .action((flags: Flags) => beside((deps) => (flags.retry === undefined ? show(deps, flags) : retry(deps, flags))));
}

function readCount(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("A number.");
}

async function show({ db }: Deps, { limit, json }: Flags): Promise<void> {
  const groups = await db.prisma.importRequest.groupBy({ by: ["state"], _count: true, orderBy: { state: "asc" } });
  const counts = groups.map(({ state, _count: count }) => ({ state, count }));
  const failed = await findFailed(db, limit);
  if (json) return print([...counts, ...failed.map(toJson)].map((row) => JSON.stringify(row)));
  print(counts.length === 0 ? ["there is no import"] : counts.map(({ state, count }) => `${state}: ${count}`));
  print(failed.map(describe));
}

async function findFailed({ prisma }: Deps["db"], limit: number): Promise<ImportRequestModel[]> {
  const where = { state: "error", isOver: false } as const;
  return prisma.importRequest.findMany({ where, orderBy: [{ updatedAtNs: "desc" }, { id: "desc" }], take: limit });
}

function toJson({ id, orgId, filename, recordingId, errorCode, errorText, attempts, updatedAtNs }: ImportRequestModel) {
  return { requestId: id, orgId, filename, recordingId, errorCode, errorText, attempts, failedAt: toTime(updatedAtNs) };
}

function describe({ id, orgId, filename, errorCode, errorText, updatedAtNs }: ImportRequestModel): string {
  return `${toTime(updatedAtNs)}  ${orgId}  ${id} ${JSON.stringify(filename)}: ${errorCode}: ${errorText}`;
}

async function retry(deps: Deps, { retry: which = "", limit }: Flags): Promise<void> {
  const failed = await findFailed(deps.db, limit);
  const chosen = which === "all" ? failed : await deps.db.prisma.importRequest.findMany({ where: { id: which } });
  if (which !== "all" && chosen.length === 0)
    throw new CommandError(`there is no import ${which}; downlink admin imports lists those that failed`);
  for (const { id, orgId } of chosen) {
    const refused = await retryOne(deps, { id, orgId });
    if (refused !== undefined) process.exitCode = 1;
    print([`${id}: ${refused ?? "tried again"}`]);
  }
  if (chosen.length === 0) print(["no import has failed"]);
}

/** Returns why it is not tried again; undefined if it is. */
async function retryOne(
  deps: Deps,
  { id, orgId }: Pick<ImportRequestModel, "id" | "orgId">,
): Promise<string | undefined> {
  try {
    await retryImport(operatorIn(deps, orgId), { requestId: id });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}
