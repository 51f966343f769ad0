import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { beginWithName } from "@downlink/terminal/command-errors";
import { harmlessJson, printable } from "@downlink/terminal/printable";
import { Command, Option } from "commander";
import type { FileAction, PartFlags } from "./commands/act.ts";
import { becomeLean } from "./commands/become-lean.ts";
import { exitCodes } from "./commands/describe-failure.ts";
import { ownCommand, withOwnCommand, withService } from "./commands/own-command.ts";
import { installedUnitFor, packagedUnitFor, stateDirFor } from "./service/packaged-service.ts";
import {
  loadSettings,
  type SettingName,
  type SettingSources,
  type Settings,
  withoutHandedOver,
} from "./settings/settings.ts";
import { durationMsOf } from "./settings/value-parsers.ts";
import { agentVersion } from "./system/version.ts";

const SERVICE = { user: "downlink-agent", unitFile: "/etc/systemd/system/downlink-agent.service" };

/** Commands are imported when they are called, because `status` must be quick. */
export const program = new Command("agent")
  .description(
    "Finds recordings on this device, reports them to a Downlink control plane and uploads those that are requested.",
  )
  .version(agentVersion, "--version")
  .option("--config <file>", "env file with settings (default: /etc/downlink/agent.env)")
  .option("--storage-root <dir>", "directory tree with the recordings [DOWNLINK_STORAGE_ROOT]")
  .option("--state-dir <dir>", "where the agent keeps its state [DOWNLINK_STATE_DIR]")
  .option("--url <url>", "the control plane [DOWNLINK_API_URL]")
  .addOption(
    new Option("--token <token>", "the token of the device or site [DOWNLINK_DEVICE_TOKEN, DOWNLINK_SITE_TOKEN]"),
  )
  .option("--device-name <name>", "with a token that can only create a device [DOWNLINK_DEVICE_NAME]")
  .addHelpText(
    "after",
    "\nSettings: flag > environment > env file > control plane > default. Exit codes: 0 healthy, 1 error, 2 usage, 3 degraded, 4 not running.",
  )
  .configureOutput(beginWithName("agent"))
  .exitOverride();

program
  .command("run")
  .description("Work until stopped by SIGTERM or SIGINT")
  .action(async () => {
    becomeLean();
    const { runUntilStopped } = await import("./commands/run.ts");
    const sources = withoutHandedOver(sourcesOf(program));
    await runUntilStopped(loadSettings(sources), sources);
  });

program
  .command("enroll")
  .description("Check token, URL, storage root and state directory, and write the env file")
  .option(
    "--token-file <file>",
    "holds the token in its first line; with -, or without this option, it is read from standard input",
  )
  .action(async ({ tokenFile }: { tokenFile?: string }) => {
    const { enroll } = await import("./commands/enroll.ts");
    const { config } = program.opts<Flags>();
    const { configFile, name } = await enroll(await settingsToEnroll(tokenFile), config && resolve(config));
    print(`Enrolled as ${printable(name)}. Settings are in ${configFile}. `);
    if (packagedUnitFor(configFile) === undefined) return print(`Next:\n\n  ${ownCommand(config)} run\n`);
    // The service of a package runs as another user, who owns nothing of what root has just written.
    const { installService, renderInstallation } = await import("./commands/install-service.ts");
    const service = { ...SERVICE, configFile };
    print(renderInstallation(installService(settingsOf(program), service), service));
  });

program
  .command("status")
  .description("Show the agent's health, uploads and problems")
  .option("--json", "as JSON, with a version and a documented schema")
  .option("--watch", "refresh until q or Ctrl-C")
  .action(async (options: { json?: true; watch?: true }) => {
    const { readStatus } = await import("./commands/status.ts");
    const settings = await settingsToLook();
    const status = options.watch ? await watch(settings, options.json === true) : await readStatus(settings);
    if (!options.watch && options.json) print(toJson(status));
    else if (!options.watch) print((await import("./status/render-status.ts")).renderStatus(status, screen()));
    const codes = { healthy: exitCodes.healthy, degraded: exitCodes.degraded, "not running": exitCodes.notRunning };
    process.exitCode = codes[status.health];
  });

program
  .command("ls [globs...]")
  .description("List the files the agent knows, newest first")
  .option("--state <state>", "only files in this state, or in one of several: damaged,failed")
  .option("--limit <count>", "at most this many")
  .option("--json", "as a JSON array")
  .action(async (globs: string[], options: { state?: string; limit?: string; json?: true }) => {
    const { listFiles, renderFiles } = await import("./commands/ls.ts");
    const settings = await settingsToLook();
    const listing = listFiles(settings, { ...options, globs });
    const none = `${settings.stateDir} holds no agent's state, or only that of another version.\n`;
    if (options.json) print(toJson(listing?.files ?? []));
    else print(listing ? renderFiles(listing, page()) : none);
  });

program
  .command("explain <file>")
  .description("Say why a file is not in the cloud, what happens next, and what can be done")
  .option("--json", "as JSON")
  .action(async (file: string, options: { json?: true }) => {
    const { explainFile, renderExplanation } = await import("./commands/explain.ts");
    const explanation = await explainFile(await settingsToLook(), file);
    print(options.json ? toJson(explanation) : renderExplanation(explanation, page()));
    if (explanation.state === "not there") process.exitCode = exitCodes.error;
  });

program
  .command("import <file...>")
  .description("Request the import of these files; kept until the control plane can be reached")
  .option("--topic <name>", "only this topic, or those that fit a glob such as '/camera/*'; may be repeated", collect)
  .option("--start <time>", "only messages at or after this time")
  .option("--end <time>", "only messages at or before this time")
  .option("--json", "as a JSON array")
  .action(async (files: string[], options: PartFlags & { json?: true }) => {
    const { toImport } = await import("./commands/act.ts");
    await act(toImport(options), files, options);
  });

program
  .command("retry <file...>")
  .description("Retry now what failed or waits for its next attempt")
  .option("--json", "as a JSON array")
  .action((files: string[], options: { json?: true }) => act({ action: "retry" }, files, options));

program
  .command("pause")
  .description("Pause uploads, and nothing else, until `agent resume`, even across restarts")
  .option("--for <duration>", "only for this long: 30min, 2h, 1d")
  .option("--json", "as JSON")
  .action(async (options: { for?: string; json?: true }) => {
    const { pauseUploads, renderPause } = await import("./commands/act.ts");
    const forMs = options.for === undefined ? null : durationMsOf(options.for);
    const answer = await pauseUploads(settingsOf(program), forMs);
    print(options.json ? toJson(answer) : renderPause(answer, page()));
  });

program
  .command("resume")
  .description("Resume uploads after `agent pause`")
  .option("--json", "as JSON")
  .action(async (options: { json?: true }) => {
    const { renderResumption, resumeUploads } = await import("./commands/act.ts");
    const answer = await resumeUploads(settingsOf(program));
    print(options.json ? toJson(answer) : renderResumption(answer, page()));
  });

program
  .command("confirm")
  .description("Start the deletions that wait because a disk limit is new; `agent status` shows them")
  .option("--json", "as JSON")
  .action(async (options: { json?: true }) => {
    const { confirmDeletions, renderConfirmation } = await import("./commands/act.ts");
    const answer = await confirmDeletions(settingsOf(program));
    print(options.json ? toJson(answer) : renderConfirmation(answer, page()));
  });

program
  .command("doctor")
  .description("Check everything that the agent needs to work, and say how to fix what is wrong")
  .option("--json", "as a JSON array")
  .action(async (options: { json?: true }) => {
    const { examineSetup, renderFindings } = await import("./commands/doctor.ts");
    const findings = await examineSetup(loadSettings({ ...sourcesOf(program), onMistake: printMistake }));
    print(options.json ? toJson(findings) : renderFindings(findings, page()));
    const verdicts = findings.map(({ verdict }) => verdict);
    if (verdicts.includes("fail")) process.exitCode = exitCodes.error;
    else if (verdicts.includes("warn")) process.exitCode = exitCodes.degraded;
  });

program
  .command("install-service")
  .description("Write the systemd unit that runs the agent with these settings")
  .option("--print", "show the unit and write nothing")
  .option("--user <name>", "the user it runs as", SERVICE.user)
  .option("--unit-file <file>", "where to write it", SERVICE.unitFile)
  .action(async (options: { print?: true; user: string; unitFile: string }) => {
    const { installService, renderInstallation, unitFor } = await import("./commands/install-service.ts");
    const service = { ...options, configFile: program.opts<Flags>().config };
    if (options.print) return print(unitFor(settingsOf(program), service));
    print(renderInstallation(installService(settingsOf(program), service), service));
  });

program
  .command("put-back", { hidden: true })
  .description("Put back files that are about to be deleted; for the removal of the package")
  .action(async () => {
    const { putBack } = await import("./commands/put-back.ts");
    const left = await putBack(settingsOf(program));
    if (left === 0) return;
    const what = left === undefined ? "the storage root is not there" : `${left} files could not be put back`;
    process.stderr.write(`agent: ${what}\n`);
    process.exitCode = exitCodes.error;
  });

program
  .command("support-bundle")
  .description("Collect status, settings, checks and log into one archive, without secrets")
  .option("--out <file>", "where to write it (default: a name with host and date, in this directory)")
  .action(async (options: { out?: string }) => {
    const { writeSupportBundle } = await import("./commands/support-bundle.ts");
    print(`${await writeSupportBundle(sourcesOf(program), options.out)}\n`);
  });

program
  .command("config")
  .description("Show every effective setting and where it comes from, secrets masked")
  .option("--json", "as a JSON array")
  .action(async (options: { json?: true }) => {
    const { listSettings, renderSettings } = await import("./commands/config.ts");
    const settings = listSettings(sourcesOf(program));
    print(options.json ? toJson(settings) : renderSettings(settings, program.opts<Flags>().config));
  });

async function act(action: FileAction, files: readonly string[], { json }: { json?: true }): Promise<void> {
  const { actOnFiles, renderAnswers } = await import("./commands/act.ts");
  const answers = await actOnFiles(settingsOf(program), action, files);
  print(json ? toJson(answers) : renderAnswers(answers, page()));
  const isDone = answers.every(({ result }) => result !== "refused" && result !== "unknown");
  if (!isDone) process.exitCode = exitCodes.error;
}

function collect(value: string, before: readonly string[] = []): string[] {
  return [...before, value];
}

interface Flags {
  readonly config?: string;
  readonly storageRoot?: string;
  readonly stateDir?: string;
  readonly url?: string;
  readonly token?: string;
  readonly deviceName?: string;
}

const SITE_TOKEN_PREFIX = "dl_st_";

function settingsOf(command: Command): Settings {
  return loadSettings(sourcesOf(command));
}

/** Loads settings also for users who may not read the env file. */
async function settingsToLook(): Promise<Settings> {
  const { settingsToRead } = await import("./commands/settings-to-read.ts");
  return settingsToRead({ ...sourcesOf(program), onMistake: printMistake });
}

/** Prints a mistake in the file and goes on: it must not keep a person from seeing the status of the agent. */
function printMistake({ message }: Error): void {
  process.stderr.write(`agent: ${message} (left out here)\n`);
}

/** Loads the settings for `enroll`. The token is asked for last, when nothing else is missing. */
async function settingsToEnroll(tokenFile: string | undefined): Promise<Settings> {
  const { readPipedToken, readTokenFile, readTokenFrom } = await import("./commands/read-token.ts");
  const { requireForEnrolment } = await import("./commands/enroll.ts");
  const ends = { input: process.stdin, notes: process.stderr };
  const settings = loadSettings(sourcesOf(program, { isFileNew: true }));
  const hasToken = (settings.deviceToken ?? settings.siteToken) !== undefined;
  if (hasToken && tokenFile === undefined) {
    // The file of an earlier enrolment has its token, and a new one that is piped replaces it.
    const piped = isTokenGiven() ? undefined : await readPipedToken(ends);
    return piped === undefined ? settings : withToken(settings, piped);
  }
  const mayCome = tokenFile !== undefined || (settings.apiUrl !== undefined && settings.storageRoot !== undefined);
  requireForEnrolment(settings, mayCome);
  const token = await (tokenFile === undefined ? readTokenFrom(ends) : readTokenFile(tokenFile, ends));
  return withToken(settings, token);
}

function isTokenGiven(): boolean {
  const { DOWNLINK_DEVICE_TOKEN, DOWNLINK_SITE_TOKEN } = process.env;
  return Boolean(program.opts<Flags>().token || DOWNLINK_DEVICE_TOKEN || DOWNLINK_SITE_TOKEN);
}

function withToken(settings: Settings, token: string): Settings {
  return { ...settings, deviceToken: undefined, siteToken: undefined, ...tokenSetting(token) };
}

function tokenSetting(token: string): Pick<SettingSources["flags"], "deviceToken" | "siteToken"> {
  return token.startsWith(SITE_TOKEN_PREFIX) ? { siteToken: token } : { deviceToken: token };
}

function sourcesOf(command: Command, { isFileNew = false } = {}): SettingSources {
  const { config, storageRoot, stateDir, url, token, deviceName } = command.opts<Flags>();
  const given = token === undefined ? {} : tokenSetting(token);
  const ownDir = isFileNew && config !== undefined && !existsSync(config) ? stateDirFor(config) : undefined;
  const flags: Partial<Record<SettingName, string>> = {
    ...{
      storageRoot: fromHere(storageRoot),
      stateDir: fromHere(stateDir ?? ownDir),
      apiUrl: url,
      deviceName,
      ...given,
    },
  };
  return { flags, environment: process.env, configFile: config, isFileNew };
}

/** On the command line a path begins where the person is; in the file it must be absolute. */
function fromHere(path: string | undefined): string | undefined {
  return path ? resolve(path) : path;
}

async function watch(settings: Settings, isJson: boolean) {
  const { watchStatus } = await import("./status/watch-status.ts");
  const { readStatus } = await import("./commands/status.ts");
  const terminal = { input: process.stdin, output: process.stdout };
  return await watchStatus({ ...terminal, readStatus: () => readStatus(settings), renderOptions: screen, isJson });
}

function screen() {
  const { isTTY, columns } = process.stdout;
  const { NO_COLOR, TERM } = process.env;
  const isColored = isTTY && !NO_COLOR && TERM !== "dumb";
  return { nowMs: Date.now(), columns: isTTY ? Math.max(40, columns) : 80, isColored, asPrinted };
}

/** Where the output is no terminal, lines may have any length. */
function page() {
  return { ...screen(), columns: process.stdout.isTTY ? screen().columns : Number.POSITIVE_INFINITY };
}

/** Rewrites the commands in a message so that they work as they are printed. */
export function asPrinted(text: string): string {
  const { config } = program.opts<Flags>();
  return withService(withOwnCommand(text, config), installedUnitFor(config));
}

function toJson(value: unknown): string {
  return `${harmlessJson(JSON.stringify(value, null, 2))}\n`;
}

function print(text: string): void {
  process.stdout.write(text);
}
