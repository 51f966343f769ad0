import { accessSync, constants, lstatSync, realpathSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { compileGlobs } from "@downlink/protocol/globs";
import { recordingExtensions, recordingFormatOf } from "@downlink/recordings";
import { formatDuration } from "@downlink/terminal/amounts";
import { shellWord } from "@downlink/terminal/shell-word";
import { problemTexts } from "../diagnostics/problems.ts";
import { isActiveName, recordingPathOf } from "../files/active-files.ts";
import { TRASH_NAME } from "../files/scan.ts";
import type { Settings } from "../settings/settings.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import { isFileSystemError } from "../system/system-error.ts";
import type { Explanation, Whereabouts } from "./explanation.ts";

export interface UntrackedFacts {
  /** The path relative to the root; undefined where it is outside. */
  readonly path: string | undefined;
  /** The absolute path that the user asked about. */
  readonly absolutePath: string;
  readonly root: string;
  /** When and why the agent deleted it last; undefined where it did not. */
  readonly deletion: { readonly at: string; readonly reason: string } | undefined;
  readonly settings: Pick<Settings, "watchInclude" | "watchExclude" | "scanIntervalMs">;
  readonly status: StatusDocument;
}

type Description = Pick<Explanation, "why" | "next"> & { readonly state: Whereabouts; readonly todo?: string };

/** Explains why the agent does not keep a path, by what is there now. */
export async function explainUntracked(facts: UntrackedFacts): Promise<Explanation> {
  const described =
    explainByPlace(facts) ?? (await explainByEntry(facts)) ?? explainByGlobs(facts) ?? explainByScan(facts);
  return { path: facts.path ?? facts.absolutePath, lastAttempt: null, todo: null, problems: [], ...described };
}

function explainByPlace({ path, root, status }: UntrackedFacts): Description | undefined {
  if (path === undefined)
    return {
      state: "outside the root",
      why: `It is not below the storage root ${root}; the agent looks at nothing else.`,
      next: "Nothing.",
      todo: "Record below the storage root, or enroll again with another --storage-root.",
    };
  if (path.split("/").includes(TRASH_NAME))
    return {
      state: "in the trash",
      why: "It lies in the agent's trash: it is being deleted, or that was interrupted.",
      next: "The agent deletes it for good, or puts it back where it was, within a minute of its start.",
      todo: "Nothing: the agent clears the trash.",
    };
  if (status.storage.isPresent !== false) return undefined;
  const unusable = status.problems.find(({ code }) => code === "StorageUnusable");
  return {
    state: unusable ? "storage unusable" : "storage missing",
    why: `${unusable ? `The storage root cannot be used: ${unusable.detail}` : `The storage root ${root} is not there: its marker is missing`}. Nothing counts as gone meanwhile.`,
    next: "The agent looks for it every few seconds.",
    todo: problemTexts[unusable ? "StorageUnusable" : "StorageMissing"].fix,
  };
}

async function explainByEntry(facts: UntrackedFacts): Promise<Description | undefined> {
  const { absolutePath, deletion } = facts;
  try {
    const stats = await lstat(absolutePath);
    const behindLink = explainByLink(facts);
    if (behindLink) return behindLink;
    if (stats.isFile()) return undefined;
    if (stats.isDirectory())
      return { state: "a directory", why: "It is a directory.", next: "Nothing.", todo: "Name a file in it." };
    return {
      state: "a symlink",
      why: "It is a symlink or not a regular file. Symlinks are not followed, so that nothing outside the root is ever read.",
      next: "Nothing.",
      todo: "Move the file itself below the storage root, or hard-link it there.",
    };
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    return isForbidden(error) ? explainForbidden(absolutePath) : explainAbsence(deletion);
  }
}

function isForbidden({ code }: NodeJS.ErrnoException): boolean {
  return code === "EACCES" || code === "EPERM";
}

/** The person may not look, whatever the agent may. */
function explainForbidden(absolutePath: string): Description {
  const folder = firstFolder(absolutePath, (path) => !mayEnter(path)) ?? dirname(absolutePath);
  return {
    state: "in an unreadable folder",
    why: `You may not look into ${folder}, and the agent knows no file by this path.`,
    next: "If the agent may read the folder, its next scan finds the file.",
    todo: `Ask again as root. If it is the agent that may not read the folder: ${problemTexts.DirectoryUnreadable.fix}`,
  };
}

function explainAbsence(deletion: UntrackedFacts["deletion"]): Description {
  if (deletion)
    return {
      state: "deleted by the agent",
      why: `The agent deleted it at ${deletion.at}: ${deletionReasons[deletion.reason] ?? deletion.reason}.`,
      next: "Nothing.",
    };
  return {
    state: "not there",
    why: "There is no file by this path, and the agent knows none.",
    next: "Nothing, unless it comes back.",
    todo: "Is the name right? If the file was renamed, the agent knows it by its new name: `agent ls` lists all files.",
  };
}

/** Returns the first folder on the way to the path, from the top, for which `holds` is true. */
function firstFolder(path: string, holds: (folder: string) => boolean): string | undefined {
  const parent = dirname(path);
  if (parent === path) return undefined;
  return firstFolder(parent, holds) ?? (holds(parent) ? parent : undefined);
}

function mayEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return true;
  } catch (error) {
    if (isFileSystemError(error)) return !isForbidden(error);
    throw error;
  }
}

/** A link on the way to the root itself does not count: the agent resolves it. */
function explainByLink({ absolutePath, root }: UntrackedFacts): Description | undefined {
  const isLink = (folder: string) => folder.startsWith(`${root}/`) && lstatSync(folder).isSymbolicLink();
  const link = firstFolder(absolutePath, isLink);
  if (link === undefined) return undefined;
  const path = relative(realpathSync(root), realpathSync(absolutePath));
  return {
    state: "behind a symlink",
    why: `${relative(root, link)} is a symlink. Symlinks are not followed, so that nothing outside the root is ever read.`,
    next: "Nothing.",
    todo:
      path.split("/")[0] === ".."
        ? "Move the file itself below the storage root, or hard-link it there."
        : `The agent knows the file by its own path: \`agent explain ${shellWord(path)}\`.`,
  };
}

const deletionReasons: Readonly<Record<string, string>> = {
  imported: "it is imported, and the device deletes imported files",
  retention: "it was older than the retention of this device",
  space: "it is imported, and the disk quota needed its space",
  prune: "the disk quota needed its space, and DOWNLINK_PRUNE_UNIMPORTED allows it",
};

function explainByGlobs({ path = "", settings }: UntrackedFacts): Description | undefined {
  const name = recordingPathOf(path);
  if (recordingFormatOf(name) === undefined)
    return {
      state: "not a recording",
      why: `Its name is not that of a recording: the agent takes files that end in ${recordingExtensions.join(" or ")}.`,
      next: "Nothing.",
      todo: "Rename it if it is one.",
    };
  const fits = (glob: string) => compileGlobs([glob])(path);
  const excluded = settings.watchExclude.find(fits);
  if (excluded !== undefined)
    return {
      state: "excluded",
      why: `DOWNLINK_WATCH_EXCLUDE excludes it by ${excluded}.`,
      next: "Nothing, until it has another name.",
      todo: "Change the setting if the agent should find it.",
    };
  const isIncluded = settings.watchInclude.some((glob) => compileGlobs([glob])(name));
  if (isIncluded) return isActiveName(path) ? explainActive() : undefined;
  return {
    state: "not included",
    why: `No pattern of DOWNLINK_WATCH_INCLUDE matches it: ${settings.watchInclude.join(", ")}.`,
    next: "Nothing.",
    todo: "Change the setting in the file; a running agent applies it within seconds.",
  };
}

function explainActive(): Description {
  return {
    state: "being recorded",
    why: "A recorder names it .active while it writes it, and renames it when it is finished.",
    next: "It is then found by its own name. If it does not change for an hour, the recorder has crashed: it is listed as incomplete, and can be salvaged.",
  };
}

function explainByScan({ path = "", status, settings }: UntrackedFacts): Description {
  if (status.health === "not running")
    return {
      state: "not seen yet",
      why: "No agent has seen it, and none runs.",
      next: "Nothing: no agent runs.",
      todo: "Start the agent: `agent run`, or `systemctl start downlink-agent`.",
    };
  const unreadable = status.problems.find(
    ({ code, detail }) => code === "DirectoryUnreadable" && mayConcern(path, detail),
  );
  const next = `The tree is scanned again within ${formatDuration(settings.scanIntervalMs / 1000)}.`;
  if (!unreadable) return { state: "not seen yet", why: "It is there, and no scan has seen it yet.", next };
  return {
    state: "in an unreadable folder",
    why: `No scan has seen it. ${unreadable.title}: ${unreadable.detail}.`,
    next,
    todo: unreadable.fix,
  };
}

/** The detail names one of the folders that cannot be read, and how many more there are. */
function mayConcern(path: string, detail: string): boolean {
  const folder = detail.replace(/: .*$/, "");
  return folder === "the root" || path.startsWith(`${folder}/`) || / and \d+ more$/.test(detail);
}
