import { userInfo } from "node:os";
import { countOf, formatBytes, formatDuration } from "@downlink/terminal/amounts";
import { printable } from "@downlink/terminal/printable";
import { type PartAsked, partSchema } from "../cloud/ask-for-part.ts";
import type { ConfirmAnswer, ControlRequest, FileAnswer, PauseAnswer } from "../control/actions.ts";
import { askControl, ControlRefusedError } from "../control/control-socket.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import { openDatabaseToRead } from "../state/database.ts";
import { askStatus } from "../status/socket.ts";
import { messageOf, type RenderOptions } from "../text/screen.ts";
import { explainFile, withFileName } from "./explain.ts";
import { locate } from "./locate-file.ts";

/** No agent runs that could act. */
export class AgentNotRunningError extends Error {
  constructor(stateDir: string) {
    super(
      `no agent runs with ${stateDir}, so nothing was done; start it with \`agent run\`, or as a service: \`systemctl start downlink-agent\``,
    );
    this.name = "AgentNotRunningError";
  }
}

/** Stops uploads for some milliseconds; with null, until {@link resumeUploads}. */
export async function pauseUploads(settings: Settings, forMs: number | null): Promise<PauseAnswer> {
  return (await ask(settings, { action: "pause", by: whoAsks(), forMs })) as PauseAnswer;
}

export async function resumeUploads(settings: Settings): Promise<PauseAnswer> {
  return (await ask(settings, { action: "resume" })) as PauseAnswer;
}

/** Begins the deletions that wait for a new disk limit. */
export async function confirmDeletions(settings: Settings): Promise<ConfirmAnswer> {
  return (await ask(settings, { action: "confirm" })) as ConfirmAnswer;
}

export type FileAction =
  | { readonly action: "import" | "retry" }
  | { readonly action: "importPart"; readonly part: PartAsked };

export interface PartFlags {
  readonly topic?: readonly string[];
  readonly start?: string;
  readonly end?: string;
}

/** Returns what is asked for of the files: all of them, or a part of each. */
export function toImport({ topic, start, end }: PartFlags): FileAction {
  const part = { topics: topic, start, end };
  if (Object.values(part).every((given) => given === undefined)) return { action: "import" };
  const { error } = partSchema.safeParse(part);
  if (error) throw new InvalidSettingError(`--${error.issues[0]?.path[0]?.toString()} ${error.issues[0]?.message}`);
  return { action: "importPart", part };
}

/** Asks for an action on files. Their paths are absolute, or relative to the working directory or the storage root. */
export async function actOnFiles(
  settings: Settings,
  action: FileAction,
  files: readonly string[],
): Promise<FileAnswer[]> {
  const root = requireSetting(settings, "storageRoot");
  const paths = locateAll(settings, root, files);
  const known = paths.filter((path) => path !== undefined);
  const answers = (await ask(settings, { ...action, paths: known })) as FileAnswer[];
  const byPath = new Map(answers.map((answer) => [answer.path, answer]));
  return await Promise.all(
    files.map(async (file, index) => {
      const answer = byPath.get(paths[index] ?? "");
      return answer && answer.result !== "unknown" ? answer : await answerUnknown(settings, file);
    }),
  );
}

function locateAll(settings: Settings, root: string, files: readonly string[]): (string | undefined)[] {
  using database = openDatabaseToRead(settings);
  const find = database?.prepare("SELECT 1 FROM files WHERE path = ?1 UNION ALL SELECT 1 FROM away WHERE path = ?1");
  return files.map((file) => locate(file, { root, isKnown: (path) => find?.get(path) !== undefined }).path);
}

/** Answers for a file that the agent does not keep, with the reason that `explain` knows. */
async function answerUnknown(settings: Settings, file: string): Promise<FileAnswer> {
  const { path, why } = await explainFile(settings, file);
  return { path, result: "unknown", text: why };
}

async function ask({ stateDir }: Settings, request: ControlRequest): Promise<unknown> {
  const answer = await askControl(stateDir, request);
  if (answer !== undefined) return answer;
  if ((await askStatus(stateDir)) === undefined) throw new AgentNotRunningError(stateDir);
  throw new ControlRefusedError(
    "the running agent is older than this command; start it again: `systemctl restart downlink-agent`",
  );
}

/** Returns the name of the person rather than root's, where it is known. */
function whoAsks(): string {
  const { SUDO_USER: behindSudo } = process.env;
  if (behindSudo) return behindSudo;
  try {
    return userInfo().username;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return `user ${process.getuid?.() ?? "?"}`; // The user has no name here.
  }
}

export function renderPause({ pause }: PauseAnswer, options: RenderOptions): string {
  const { by, until } = pause;
  const end =
    until === null
      ? "until `agent resume`"
      : `for ${formatDuration((Date.parse(until) - options.nowMs) / 1000)}, until ${until}`;
  const goesOn = "Everything else goes on: files are found and reported, and deleted where the rules say so.";
  return messageOf(`Uploads are paused by ${printable(by ?? "?")}, ${end}. ${goesOn}`, options);
}

export function renderResumption({ wasPaused, stillHeld }: PauseAnswer, options: RenderOptions): string {
  const answer = wasPaused ? "Uploads go on." : "Uploads were not paused.";
  return messageOf(stillHeld === null ? answer : `${answer} They still wait: ${printable(stillHeld)}.`, options);
}

export function renderConfirmation({ begun }: ConfirmAnswer, options: RenderOptions): string {
  if (begun === null) return messageOf("No deletion waits to be confirmed.", options);
  const { files, bytes } = begun;
  const what = `${countOf(files, "file")} (${formatBytes(bytes)})`;
  return messageOf(`The agent deletes ${what} now, to keep below the disk limit.`, options);
}

export function renderAnswers(answers: readonly FileAnswer[], options: RenderOptions): string {
  return answers
    .map(({ path, text }) => messageOf(`${printable(path)}: ${printable(withFileName(text, path))}`, options))
    .join("");
}
