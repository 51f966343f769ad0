import { lstat } from "node:fs/promises";
import { compileGlobs } from "@downlink/protocol/globs";
import { recordingFormatOf } from "@downlink/recordings";
import { problemTexts } from "../diagnostics/problems.ts";
import { TRASH_NAME } from "../files/scan.ts";
import type { Settings } from "../settings/settings.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import { isFileSystemError } from "../system/system-error.ts";
import { formatDuration } from "../text/amounts.ts";
import type { Explanation, Whereabouts } from "./explanation.ts";

export interface UntrackedFacts {
  /** The path relative to the root; undefined where it is outside. */
  readonly path: string | undefined;
  /** The absolute path for which somebody asked. */
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
      todo: "Nothing: leave the trash to the agent.",
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

async function explainByEntry({ absolutePath, deletion }: UntrackedFacts): Promise<Description | undefined> {
  try {
    const stats = await lstat(absolutePath);
    if (stats.isFile()) return undefined;
    if (stats.isDirectory())
      return { state: "a directory", why: "It is a directory.", next: "Nothing.", todo: "Name a file in it." };
    return {
      state: "a symlink",
      why: "It is a symlink or no regular file. Symlinks are not followed, so that nothing outside the root is ever read.",
      next: "Nothing.",
      todo: "Move the file itself below the storage root, or hard-link it there.",
    };
  } catch (error) {
    if (!isFileSystemError(error)) throw error;
    if (deletion)
      return {
        state: "deleted by the agent",
        why: `The agent deleted it at ${deletion.at}: ${deletionReasons[deletion.reason] ?? deletion.reason}.`,
        next: "Nothing.",
      };
    return {
      state: "not there",
      why: `It cannot be looked at: ${error.message}. The agent knows nothing by this path.`,
      next: "Nothing, unless it comes back.",
      todo: "Was it renamed? `agent ls` lists all that is known; `agent explain FILE` takes one of those paths.",
    };
  }
}

const deletionReasons: Readonly<Record<string, string>> = {
  imported: "it is imported, and the device deletes what is",
  retention: "it was older than recordings are kept on this device",
  space: "it is imported, and the disk quota needed its space",
  prune: "the disk quota needed its space, and DOWNLINK_PRUNE_UNIMPORTED allows it",
};

function explainByGlobs({ path = "", settings }: UntrackedFacts): Description | undefined {
  if (recordingFormatOf(path) === undefined)
    return {
      state: "not a recording",
      why: "By its name it is no recording: the agent knows .mcap and .bag.",
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
      todo: "Recorders that name files .active rename them when they are finished. Else change the setting.",
    };
  if (settings.watchInclude.some(fits)) return undefined;
  return {
    state: "not included",
    why: `None of DOWNLINK_WATCH_INCLUDE fits it: ${settings.watchInclude.join(", ")}.`,
    next: "Nothing.",
    todo: "Change the setting in the file; a running agent takes it up within seconds.",
  };
}

function explainByScan({ status, settings }: UntrackedFacts): Description {
  const unreadable = status.problems.find(({ code }) => code === "DirectoryUnreadable");
  if (status.health === "not running")
    return {
      state: "not seen yet",
      why: "No agent has seen it, and none runs.",
      next: "Nothing: no agent runs.",
      todo: "Start the agent: `agent run`, or `systemctl start downlink-agent`.",
    };
  return {
    state: "not seen yet",
    why: unreadable
      ? `No scan has seen it. ${unreadable.title}: ${unreadable.detail}.`
      : "It is there, and no scan has seen it yet.",
    next: `The tree is scanned again within ${formatDuration(settings.scanIntervalMs / 1000)}.`,
    todo: unreadable?.fix,
  };
}
