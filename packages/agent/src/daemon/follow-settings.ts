import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { watch } from "chokidar";
import { configuredToken } from "../cloud/credential.ts";
import { type Log, maskTokens } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { createWakeSignal, pause, type WakeSignal } from "../loops/wake-signal.ts";
import { openWayOut } from "../network/way-out.ts";
import { parseEnvFile } from "../settings/env-file.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import {
  DEFAULT_FILE,
  loadSettings,
  requireSetting,
  resolveSettings,
  type SettingName,
  type SettingSources,
  type Settings,
  settingKey,
} from "../settings/settings.ts";
import { compareSettings, type RunningSettings, settingsToStartWith } from "./running-settings.ts";

export interface FollowContext {
  readonly sources: SettingSources;
  readonly running: RunningSettings;
  /** The certificates of the private authorities that the running agent trusts. */
  readonly extraRoots: readonly string[] | undefined;
  readonly problems: ProblemBoard;
  readonly log: Log;
  /** Is called when a change took effect at once. */
  readonly onAdopted: () => void;
  /** Is called when the agent has to start again with these settings. */
  readonly startAgain: (settings: Settings) => void;
}

/** Notifications may be missed (network file systems, changed symlinks), and reading one small file costs nothing. */
const LOOK_EVERY_MS = 10_000;
const LOOK_FOR_MISSING_MS = 1000;
/** Editors and copies write in pieces: a file counts as written once it stood still for this long. */
const STANDS_STILL_MS = 250;

/**
 * Follows the settings file until aborted. An unusable file changes nothing and is shown as a problem. Chokidar watches it, because
 * chokidar notices every way in which editors write one small file.
 */
export async function followSettings(ctx: FollowContext, signal: AbortSignal): Promise<void> {
  const path = ctx.sources.configFile ?? DEFAULT_FILE;
  const wakeSignal = createWakeSignal();
  let { sources } = ctx;
  let known = await readText(path);
  const watchAll = () => openWatch([path, ctx.running.settings.caFile ?? path], wakeSignal);
  let watcher = known === undefined ? undefined : watchAll();
  try {
    while (!signal.aborted) {
      const text = await readStill(path, signal);
      if (signal.aborted) return;
      // From then on a missing file is a mistake.
      if (text !== undefined) sources = { ...sources, configFile: path };
      takeUp(ctx, sources);
      if (text !== known) {
        logHidden(ctx, { sources, before: known, after: text });
        await watcher?.close(); // Another file may be at the path, which is not watched yet.
        watcher = text === undefined ? undefined : watchAll();
      }
      known = text;
      await wakeSignal.wait(signal, text === undefined ? LOOK_FOR_MISSING_MS : LOOK_EVERY_MS);
    }
  } finally {
    await watcher?.close();
  }
}

function openWatch(paths: string[], wakeSignal: WakeSignal) {
  const watcher = watch(paths, { ignoreInitial: true, depth: 0 });
  // Without notifications, the looks at intervals remain.
  return watcher.on("all", wakeSignal.notify).on("error", wakeSignal.notify);
}

/** Reads the file once it does not change any more; undefined where it is missing or cannot be read. */
async function readStill(path: string, signal: AbortSignal): Promise<string | undefined> {
  let text = await readText(path);
  while (!signal.aborted) {
    await pause(STANDS_STILL_MS, signal);
    const again = await readText(path);
    if (again === text) return text;
    text = again;
  }
  return undefined;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code === "string") return undefined;
    throw error;
  }
}

function takeUp(ctx: FollowContext, sources: SettingSources): void {
  const wanted = loadUsable(ctx, sources);
  if (!wanted) return;
  const { running, log } = ctx;
  const changed = compareSettings(running.settings, wanted.settings);
  noteRestart(ctx, changed["after a restart"]);
  if (changed["at once"].length > 0) {
    running.adopt(wanted.settings);
    log.info({ settings: keysOf(changed["at once"]) }, "changed settings are applied");
    ctx.onAdopted();
  }
  const hasOtherRoots = !isDeepStrictEqual(wanted.extraRoots, ctx.extraRoots);
  if (changed["within seconds"].length === 0 && !hasOtherRoots) return;
  const settings = keysOf(hasOtherRoots ? [...changed["within seconds"], "caFile"] : changed["within seconds"]);
  log.info({ settings }, "the agent starts over with changed settings");
  ctx.startAgain(settingsToStartWith(running.settings, wanted.settings));
}

/** Loads the settings; raises a problem and returns undefined where an agent would not start with them. */
function loadUsable({ problems }: FollowContext, sources: SettingSources) {
  try {
    const settings = loadSettings(sources);
    configuredToken(settings);
    requireSetting(settings, "apiUrl");
    requireSetting(settings, "storageRoot");
    const { extraRoots } = openWayOut(settings);
    problems.clear("SettingsInvalid");
    return { settings, extraRoots };
  } catch (error) {
    if (!(error instanceof InvalidSettingError) && typeof (error as NodeJS.ErrnoException).code !== "string")
      throw error;
    problems.raise("SettingsInvalid", maskTokens((error as Error).message));
    return undefined;
  }
}

function noteRestart({ problems, log }: FollowContext, waiting: readonly SettingName[]): void {
  const detail = keysOf(waiting).join(", ");
  const known = problems.list().find(({ code }) => code === "RestartNeeded");
  if (waiting.length === 0) problems.clear("RestartNeeded");
  else problems.raise("RestartNeeded", detail);
  if (known && waiting.length > 0 && known.detail !== detail)
    log.warn({ settings: keysOf(waiting) }, "changed settings wait for a restart");
}

/** Logs changes in the file that have no effect because a flag or the environment decides: a person would wait for them in vain. */
function logHidden(
  { log }: FollowContext,
  { sources, before = "", after = "" }: { sources: SettingSources; before?: string; after?: string },
): void {
  try {
    const [was, is] = [before, after].map((text) => parseEnvFile(DEFAULT_FILE, text));
    for (const { key, origin } of resolveSettings(sources)) {
      const isElsewhere = origin === "command line" || origin === "environment";
      if (isElsewhere && was!.get(key) !== is!.get(key))
        log.warn({ setting: key }, `a change in the file has no effect: the ${origin} takes precedence`);
    }
  } catch (error) {
    if (!(error instanceof InvalidSettingError)) throw error; // The problem is shown already.
  }
}

function keysOf(settings: readonly SettingName[]): string[] {
  return [...new Set(settings)].map(settingKey);
}
