import { askForPart, type PartAsked, partSchema } from "../cloud/ask-for-part.ts";
import type { CloudSession } from "../cloud/session.ts";
import type { Deletions } from "../deleting/deletion-loop.ts";
import type { Log } from "../diagnostics/log.ts";
import { shortCard } from "../files/card-marker.ts";
import type { YoungFiles } from "../files/young-files.ts";
import { type FileState, isBeforeIndexing } from "../inventory/file-state.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { lifeOf, type TrackedFile } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { describePause } from "../status/describe-pause.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import type { Clock } from "../system/clock.ts";
import type { LocalRequestAnswer, LocalRequests } from "../uploads/local-requests.ts";
import type { Throttle } from "../uploads/throttle.ts";
import type { Uploads } from "../uploads/upload-loop.ts";
import type { UploadPause } from "../uploads/upload-pause.ts";

/** The requests of users who may change something on a running agent. Paths are relative to the root. */
export type ControlRequest =
  | { readonly action: "pause"; readonly by: string; readonly forMs: number | null }
  | { readonly action: "resume" }
  | { readonly action: "confirm" }
  | { readonly action: "import"; readonly paths: readonly string[] }
  | { readonly action: "importPart"; readonly paths: readonly string[]; readonly part: PartAsked }
  | { readonly action: "retry"; readonly paths: readonly string[] };

/**
 * The result for one file. With `done` its import was requested, or is tried again. With `kept` that happens as soon as the control plane
 * is reached. With `already` there is nothing to do. With `refused` it is not possible, and the text says why. With `unknown` the agent
 * keeps no such file.
 */
export interface FileAnswer {
  readonly path: string;
  readonly result: "done" | "kept" | "already" | "refused" | "unknown";
  readonly text: string;
}

export interface PauseAnswer {
  readonly pause: StatusDocument["pause"];
  readonly wasPaused: boolean;
  /** Why uploads wait nevertheless. */
  readonly stillHeld: string | null;
}

export interface ConfirmAnswer {
  /** The files that waited and are deleted now; null where none waited. */
  readonly begun: { readonly files: number; readonly bytes: number } | null;
}

export interface ActionContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly session: Pick<CloudSession, "connection" | "call">;
  readonly pause: UploadPause;
  readonly throttle: Throttle;
  readonly uploads: Uploads;
  readonly localRequests: LocalRequests;
  readonly deletions: Pick<Deletions, "confirm">;
  readonly young: YoungFiles;
  readonly workSignal: WakeSignal;
  readonly youngSignal: WakeSignal;
  readonly reportSignal: WakeSignal;
}

/** How long a person waits at a terminal; it is longer for many files while the control plane is connected. */
const ANSWER_WITHIN_MS = 3000;
const LONGER_A_FILE_MS = 20;
const LONGEST_ANSWER_MS = 30_000;

/** Carries out what a command asks. The messages of its errors are for people. */
export function createActions(ctx: ActionContext): (request: unknown) => Promise<unknown> {
  return async (given) => {
    const request = toRequest(given);
    ctx.log.info(request, "asked for on this device");
    switch (request.action) {
      case "pause":
        return pause(ctx, request);
      case "resume":
        return resume(ctx);
      case "confirm":
        return confirm(ctx);
      case "import":
        return await askForImports(ctx, request.paths);
      case "importPart":
        return await askForParts(ctx, request.paths, request.part);
      case "retry":
        return await retry(ctx, request.paths);
      default:
        return request satisfies never;
    }
  };
}

/** A newer command line may send requests that this agent does not know. */
function toRequest(given: unknown): ControlRequest {
  const { action, by, forMs, paths, part } = (given ?? {}) as Record<string, unknown>;
  const isPaths = Array.isArray(paths) && paths.every((path) => typeof path === "string");
  if ((action === "import" || action === "retry") && isPaths) return { action, paths };
  if (action === "resume" || action === "confirm") return { action };
  if (action === "importPart" && isPaths && partSchema.safeParse(part).success)
    return { action, paths, part: part as PartAsked };
  const isTime = forMs === null || (typeof forMs === "number" && forMs >= 1 && Number.isFinite(forMs));
  if (action === "pause" && typeof by === "string" && isTime) return { action, by: by.slice(0, 100), forMs };
  throw new Error(
    "the running agent does not know this request; start it again, so that it and this command have the same version",
  );
}

function pause(ctx: ActionContext, { by, forMs }: Extract<ControlRequest, { action: "pause" }>): PauseAnswer {
  const wasPaused = ctx.pause.current() !== undefined;
  const begun = ctx.pause.begin({ by, forMs: forMs === null ? undefined : Math.round(forMs) });
  ctx.workSignal.notify();
  return { pause: describePause(begun), wasPaused, stillHeld: null };
}

function resume(ctx: ActionContext): PauseAnswer {
  const wasPaused = ctx.pause.end();
  ctx.workSignal.notify();
  return { pause: describePause(undefined), wasPaused, stillHeld: ctx.throttle.state().pausedBecause ?? null };
}

function confirm({ deletions }: ActionContext): ConfirmAnswer {
  const begun = deletions.confirm();
  if (!begun) return { begun: null };
  const sum = (part: "files" | "bytes") => begun.reduce((total, rule) => total + rule[part], 0);
  return { begun: { files: sum("files"), bytes: sum("bytes") } };
}

async function askForImports(ctx: ActionContext, paths: readonly string[]): Promise<FileAnswer[]> {
  const find = finder(ctx.inventory, paths);
  const wanted = paths.map((path) => ({ path, file: find(path) }));
  const refusals = wanted.map(({ path, file }) => whyNotAsked(ctx, path, file));
  const asked = wanted.flatMap(({ file }, index) => (file && !refusals[index] ? [file.versionId] : []));
  const isConnected = ctx.session.connection().state === "connected";
  const longerMs = isConnected ? asked.length * LONGER_A_FILE_MS : 0;
  const answers = await ctx.localRequests.add(asked, Math.min(LONGEST_ANSWER_MS, ANSWER_WITHIN_MS + longerMs));
  return wanted.map(({ path, file }, index) =>
    withCard(refusals[index] ?? answerOf(ctx, path, answers.get(file!.versionId)), file),
  );
}

/** Finds the file at a path; where there is none, the file at that path on the card that was taken out last. */
function finder(inventory: Inventory, paths: readonly string[]): (path: string) => TrackedFile | undefined {
  const absent = new Set(paths.filter((path) => inventory.at(path) === undefined));
  const away = new Map<string, TrackedFile>();
  for (const file of absent.size > 0 ? inventory.files() : []) {
    const { path, away: at } = file;
    if (at && absent.has(path) && at.sinceNs >= (away.get(path)?.away?.sinceNs ?? at.sinceNs)) away.set(path, file);
  }
  return (path) => inventory.at(path) ?? away.get(path);
}

/** Says that the file waits for its card, where the next step needs the file itself. */
function withCard(answer: FileAnswer, file: TrackedFile | undefined): FileAnswer {
  if (!file?.away || needsNoCard.has(file.away.before)) return answer;
  return { ...answer, text: `${answer.text}; it is on the card …${shortCard(file.away.card)}, which is out` };
}

const needsNoCard: ReadonlySet<FileState> = new Set(["stored", "imported", "duplicate"]);

/** Asks for a part of each file, one after the other. Such a request is not kept: a user who is not answered asks again. */
async function askForParts(ctx: ActionContext, paths: readonly string[], part: PartAsked): Promise<FileAnswer[]> {
  const find = finder(ctx.inventory, paths);
  const answers: FileAnswer[] = [];
  const isConnected = ctx.session.connection().state === "connected";
  const signal = AbortSignal.timeout(isConnected ? LONGEST_ANSWER_MS : ANSWER_WITHIN_MS);
  for (const path of paths) {
    const file = find(path);
    const isRequested = file !== undefined && lifeOf(file) === "requested"; // a part of it may come before all of it
    const refusal = isRequested ? undefined : whyNotAsked(ctx, path, file);
    const answer = refusal ?? {
      path,
      ...(await askForPart(ctx.session, { part, versionId: file!.versionId }, signal)),
    };
    answers.push(withCard(answer, file));
  }
  return answers;
}

/** Returns why the control plane is not asked; undefined where it is to be asked. */
function whyNotAsked(
  ctx: Pick<ActionContext, "inventory">,
  path: string,
  file: TrackedFile | undefined,
): FileAnswer | undefined {
  if (!file) return { path, result: "unknown", text: "the agent knows no file by this path" };
  const { versionId } = file;
  const state = lifeOf(file);
  if (state === "requested" || state === "uploading" || state === "stored")
    return { path, result: "already", text: `its import was asked for already; it is ${state}` };
  if (state === "imported") return { path, result: "already", text: "it is in the control plane already" };
  if (state === "duplicate")
    return {
      path,
      result: "already",
      text: ctx.inventory.outcome(versionId)?.text ?? "its content is imported already",
    };
  const why = cannotBeImported[state];
  if (why === undefined) return undefined;
  const { text = undefined } = ctx.inventory.findings(versionId)?.reason ?? {};
  return { path, result: "refused", text: text === undefined ? why : `${why} (${text})` };
}

const UNFINISHED = "it is not finished, or was not examined yet; ask again once `agent ls` shows it as reported";

/** Why a file in this state cannot be imported; undefined where it can. */
const cannotBeImported: Readonly<Record<FileState, string | undefined>> = {
  seen: UNFINISHED,
  settling: UNFINISHED,
  unreadable: "it cannot be read; `agent explain FILE` says what to do",
  incomplete: "it is incomplete; the control plane can salvage what is readable",
  damaged: "it is damaged; the control plane can salvage what is readable",
  empty: "it is a recording without a single message",
  indexed: undefined,
  reported: undefined,
  unassigned: "the control plane does not know its device; `agent explain FILE` says what to do",
  requested: undefined,
  uploading: undefined,
  stored: undefined,
  imported: undefined,
  failed: undefined,
  duplicate: undefined,
  deleting: undefined,
  away: undefined,
  gone: undefined,
};

function answerOf({ session }: ActionContext, path: string, answer: LocalRequestAnswer | undefined): FileAnswer {
  if (answer === "pending" || answer === "importing")
    return { path, result: "done", text: "its import is asked for; it is uploaded when its turn comes" };
  if (answer === "complete") return { path, result: "already", text: "it is in the control plane already" };
  if (answer === "unsupported")
    return {
      path,
      result: "refused",
      text: "the control plane is too old for requests from the device; request the import there",
    };
  if (answer !== undefined)
    return {
      path,
      result: "refused",
      text: "the control plane does not know it, or it is being deleted; ask again in a minute",
    };
  const { state } = session.connection();
  const why = state === "connected" ? "the control plane has not answered yet" : "the control plane cannot be reached";
  return {
    path,
    result: "kept",
    text: `${why}; the request is kept, even across a restart, and sent as soon as the control plane answers`,
  };
}

async function retry(ctx: ActionContext, paths: readonly string[]): Promise<FileAnswer[]> {
  const find = finder(ctx.inventory, paths);
  const failed = paths.filter((path) => {
    const file = find(path);
    return file !== undefined && lifeOf(file) === "failed";
  });
  const asked = new Map((await askForImports(ctx, failed)).map((answer) => [answer.path, answer]));
  return paths.map((path) => asked.get(path) ?? retryHere(ctx, path, find(path)));
}

function retryHere(ctx: ActionContext, path: string, file: TrackedFile | undefined): FileAnswer {
  const { inventory, uploads, young, clock, youngSignal, reportSignal } = ctx;
  if (!file) return { path, result: "unknown", text: "the agent knows no file by this path" };
  if (file.away) return withCard({ path, result: "already", text: "nothing about it can be retried" }, file);
  const { versionId, state } = file;
  if (isBeforeIndexing(state) && young.hurry(versionId, clock.monotonicMs())) {
    youngSignal.notify();
    return { path, result: "done", text: "it is examined again now" };
  }
  if (state === "unassigned") {
    inventory.change([{ do: "reportAgain", versionId }]);
    reportSignal.notify();
    return { path, result: "done", text: "the control plane is asked again now which device it belongs to" };
  }
  if (state === "requested" && uploads.retryNow(versionId))
    return { path, result: "done", text: "its upload is tried again now" };
  if (state === "requested") return { path, result: "already", text: "its upload waits for its turn; none has failed" };
  if (state === "incomplete" || state === "damaged" || state === "empty")
    return { path, result: "refused", text: `it is ${state}; it is examined again by itself once it changes` };
  return { path, result: "already", text: `it is ${state}: nothing has failed that could be retried` };
}
