// Sets up what is missing, then runs a program of this checkout on the pinned Node:
//
//   node scripts/bootstrap.mjs [--lean] [--say SENTENCE] [--generate | --console <script.ts> | --bin <NAME> | <script.ts>] [arguments…]
//
// With --console the pages of the control plane are built, too, unless those of these sources are there. --lean installs
// no tool that only checks and tests need. --say prints the sentence before all else.
//
// Plain JavaScript for Node ≥ 18 without any package, because it runs before there is any.
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, relative, resolve } from "node:path";
import { createInterface } from "node:readline";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";
import { followInstallation } from "./install-progress.mjs";
import { whenParentIsGone } from "./parent.mjs";
import { takeLock } from "./setup-lock.mjs";

const PNPM = "pnpm@10.34.9";
const OLDEST_NODE = 24;
const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const STATE = join(ROOT, "node_modules", ".cache", "downlink");
const GENERATED = join(ROOT, "packages", "cloud", "src", "db", "generated", "client.ts");
const GENERATE = join("scripts", "generate-client.ts");
const NAME_STATES = join("scripts", "name-states.ts");
const CONSOLE = join(ROOT, "packages", "console");
const END_WITH_PARENT = new URL("end-with-parent.mjs", import.meta.url).href;
/** The tools of checks and tests, and of the documentation as a site. */
const LEFT_WHEN_LEAN = ["@downlink/tools", "@downlink/guide"];
const TOOLS_MANIFEST = join("scripts", "tools", "package.json");
const FIRST_TIME =
  "the first time, packages come from the npm registry, 150 to 250 MB, which takes between half a minute and some minutes";
const MODES = new Set(["--generate", "--console", "--bin"]);
const USAGE = "usage: bootstrap.mjs [--say SENTENCE] [--generate | --console | --bin] <script.ts or NAME> [arguments…]";
const SIGNALS = ["SIGINT", "SIGHUP", "SIGTERM"];

class SetupError extends Error {}
/** A signal ended the current step; the message is the signal's name. */
class Interrupted extends Error {}

try {
  const { mode, isLean, greeting, target, args } = readArguments(process.argv.slice(2));
  if (greeting !== undefined) process.stderr.write(`${greeting}\n`);
  await setUp(mode, isLean);
  if (target !== undefined) await run(mode, target, args);
} catch (error) {
  if (error instanceof Interrupted) endBy(error.message);
  else if (error instanceof SetupError) {
    process.stderr.write(`setup: ${error.message}\n`);
    process.exitCode = 1;
  } else throw error;
}

/** Reads flags, the program and its arguments. */
function readArguments(given) {
  const rest = [...given];
  const options = { mode: "script", isLean: false, greeting: undefined };
  for (let flag = rest[0]; flag?.startsWith("--"); flag = rest[0]) {
    rest.shift();
    if (flag === "--lean") options.isLean = true;
    else if (flag === "--say") options.greeting = rest.shift();
    else if (MODES.has(flag)) options.mode = flag.slice(2);
    else break;
  }
  const [target, ...args] = rest;
  if (target === undefined && options.mode !== "generate") throw new SetupError(USAGE);
  return { ...options, target, args };
}

async function setUp(mode, isLean) {
  const mustGenerate = mode === "generate";
  const lacksConsole = () => mode === "console" && !isConsoleBuilt();
  if (!mustGenerate && isInstalled(isLean) && isGenerated() && !lacksConsole()) return;
  makeStateFolder();
  const release = await takeLock(join(STATE, "lock"));
  try {
    if (!isInstalled(isLean)) await install(isLean);
    if (mustGenerate || !isGenerated()) await generate();
    if (lacksConsole()) await buildConsole();
  } finally {
    release();
  }
}

// ---- the steps

/** The stamp of a whole installation serves programs that need a lean one, too. */
function isInstalled(isLean) {
  const stamp = readStamp("installed");
  return stamp.hash === installHash() && (isLean || !stamp.isLean) && existsSync(runtimePath());
}

/** Returns the Node that was found to run here; its path stays relative, so that a checkout may be moved. */
function runtimePath() {
  return resolve(ROOT, readStamp("installed").runtime);
}

function isGenerated() {
  return readStamp("generated").hash === schemaHash() && existsSync(GENERATED);
}

function isConsoleBuilt() {
  return readStamp("console").hash === consoleHash() && existsSync(join(CONSOLE, "dist", "index.html"));
}

async function install(isLean) {
  const parts = isLean ? LEFT_WHEN_LEAN.flatMap((name) => ["--filter", `!${name}`]) : [];
  const options = ["--frozen-lockfile", "--prod=false", "--config.confirm-modules-purge=false", ...parts];
  if (readStamp("installed").hash === undefined) process.stderr.write(`setup: ${FIRST_TIME}\n`);
  await step("installing the pinned packages", {
    command: "npx",
    args: ["--yes", PNPM, "install", ...options, "--reporter=ndjson"],
    env: { ...setupEnvironment(), CI: "true" },
    follow: followInstallation(),
  });
  writeStamp("installed", { hash: installHash(), runtime: relative(ROOT, findRuntime()), isLean });
}

async function generate() {
  const runtime = runtimePath();
  const env = { ...setupEnvironment(), PATH: pathWith(runtime) };
  await step("generating the database client", { command: runtime, args: [join(ROOT, GENERATE)], env });
  await step("naming the states of its columns", { command: runtime, args: [join(ROOT, NAME_STATES)], env });
  writeStamp("generated", { hash: schemaHash() });
}

async function buildConsole() {
  const runtime = runtimePath();
  const vite = join(CONSOLE, "node_modules", "vite", "bin", "vite.js");
  const env = { ...setupEnvironment(), PATH: pathWith(runtime) };
  await step("building the console", { command: runtime, args: [vite, "build", CONSOLE, "--logLevel", "warn"], env });
  writeStamp("console", { hash: consoleHash() });
}

/** Finds the pinned Node if it runs on this machine, or else the Node that runs this, if it is new enough. */
function findRuntime() {
  const name = `node-${process.platform}-${process.arch}`;
  const pinned = join(ROOT, "node_modules", name, "bin", "node");
  if (existsSync(pinned) && spawnSync(pinned, ["--version"]).status === 0) return pinned;
  if (Number.parseInt(process.versions.node, 10) >= OLDEST_NODE) return process.execPath;
  throw new SetupError(
    `there is no pinned Node that runs here (${process.platform} ${process.arch}; on Linux it needs glibc ≥ 2.28).\n` +
      `Install Node ${OLDEST_NODE} or newer and run this again; this is Node ${process.versions.node}.`,
  );
}

function installHash() {
  const packages = join(ROOT, "packages");
  const manifests = readdirSync(packages)
    .map((name) => join("packages", name, "package.json"))
    .filter((path) => existsSync(join(ROOT, path)));
  const files = [
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    ".pnpmfile.cjs",
    ".npmrc",
    ...manifests,
    TOOLS_MANIFEST,
  ];
  return hashFiles(files, `${PNPM} ${process.platform} ${process.arch}`);
}

function schemaHash() {
  const schema = readdirSync(join(ROOT, "prisma", "schema"), { recursive: true })
    .map((name) => join("prisma", "schema", String(name)))
    .filter((path) => path.endsWith(".prisma"));
  return hashFiles([...schema, "pnpm-lock.yaml", GENERATE, NAME_STATES], "");
}

/** The pages are made of the sources of three packages. */
function consoleHash() {
  const sources = ["console", "client", "protocol"].flatMap((name) => filesBelow(join("packages", name, "src")));
  const own = ["index.html", "package.json", "vite.config.ts"].map((name) => join("packages", "console", name));
  return hashFiles([...sources, ...filesBelow(join("packages", "console", "public")), ...own, "pnpm-lock.yaml"], "");
}

function filesBelow(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath ?? entry.path, entry.name)));
}

function hashFiles(paths, salt) {
  const hash = createHash("sha256").update(salt);
  for (const path of paths.sort()) hash.update(`\0${path}\0`).update(readFileSync(join(ROOT, path)));
  return hash.digest("hex");
}

function readStamp(name) {
  try {
    return JSON.parse(readFileSync(join(STATE, name), "utf8"));
  } catch (error) {
    if (error.code === "ENOENT" || error instanceof SyntaxError) return {};
    throw error;
  }
}

function writeStamp(name, stamp) {
  mkdirSync(STATE, { recursive: true });
  writeFileSync(join(STATE, `${name}.new`), JSON.stringify(stamp));
  renameSync(join(STATE, `${name}.new`), join(STATE, name));
}

// ---- running a step

async function step(title, program) {
  const started = performance.now();
  const progress = () => program.follow?.progress() ?? "";
  const state = () => `${Math.round((performance.now() - started) / 1000)} s${progress()}`;
  const isTerminal = isatty(2);
  const say = (end) => process.stderr.write(`${isTerminal ? "\r" : ""}setup: ${title} … ${end}`);
  say("");
  const ticker = isTerminal ? setInterval(() => say(state()), 1000) : undefined;
  const result = await runQuietly(program).finally(() => clearInterval(ticker));
  if (isTerminal) say("");
  process.stderr.write(result.code === 0 ? `${state()}\n` : "failed\n");
  if (result.signal !== undefined) throw new Interrupted(result.signal);
  if (result.code !== 0) throw new SetupError(explain(title, program.command, result));
}

/**
 * Runs a command to its end and keeps the last 8,000 characters that it printed, or what `follow` makes of its lines. A signal to this process
 * ends the command with all that it started.
 */
function runQuietly({ command, args, env, follow }) {
  return new Promise((finish) => {
    let output = "";
    let received;
    const child = spawn(command, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
    const stopListening = onSignals((signal) => {
      received = signal;
      const isRunning = child.exitCode === null && child.signalCode === null;
      if (isRunning) process.kill(-child.pid, "SIGTERM"); // its process group, because npx starts others and passes no signal on
    });
    const done = (result) => {
      stopListening();
      finish({ ...result, signal: received });
    };
    const keep = (text) => {
      output = (output + text).slice(-8000);
    };
    for (const stream of [child.stdout, child.stderr])
      if (follow === undefined) stream.on("data", keep);
      else createInterface({ input: stream }).on("line", follow.add);
    child.once("error", (error) => done({ code: error.code, output: error.message }));
    child.once("close", (code, signal) => done({ code: code ?? signal, output: follow?.text() ?? output }));
  });
}

function explain(title, command, { code, output }) {
  if (code === "ENOENT" && command === "npx")
    return "npm is missing: install it (it comes with Node) and run this again";
  const isOffline = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT)\b/.test(
    output,
  );
  const hint = isOffline
    ? "\nThe package registry cannot be reached: the first run needs a network (npm's proxy and registry settings are obeyed)."
    : "";
  return `${title} failed (${code}):\n${output.trim()}${hint}`;
}

/** npm and pnpm keep caches in the home directory: if that cannot be written they get a folder inside the checkout. */
function setupEnvironment() {
  const { NODE_ENV: _, ...environment } = process.env; // "production" would leave the tools out
  const home = process.env.HOME || homedir();
  if (isWritable(home)) return { ...environment, HOME: home };
  const ownHome = join(STATE, "home");
  mkdirSync(ownHome, { recursive: true });
  return { ...environment, HOME: ownHome, npm_config_cache: join(ownHome, ".npm") };
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function makeStateFolder() {
  try {
    mkdirSync(STATE, { recursive: true });
    accessSync(STATE, constants.W_OK);
  } catch (error) {
    throw new SetupError(
      `${ROOT} must be set up, and this user cannot write to it (${error.code}): run "npm run db:generate" there once as its owner`,
    );
  }
}

// ---- running the program

function run(mode, target, args) {
  const runtime = runtimePath();
  const command =
    mode === "bin"
      ? [join(ROOT, "node_modules", ".bin", target), ...args]
      : [runtime, "--import", END_WITH_PARENT, resolve(ROOT, target), ...args];
  const nodeOptions = [process.env.NODE_OPTIONS, "--disable-warning=ExperimentalWarning"].filter(Boolean).join(" ");
  // Files whose types were stripped once are read from this cache: programs start more quickly and take 23 MB less memory.
  const compiled = process.env.NODE_COMPILE_CACHE ?? join(STATE, "compiled");
  const env = {
    ...process.env,
    PATH: pathWith(runtime),
    NODE: runtime,
    NODE_OPTIONS: nodeOptions,
    NODE_COMPILE_CACHE: compiled,
  };
  const child = spawn(command[0], command.slice(1), { env, stdio: "inherit" });
  onSignals((signal) => {
    if (signal === "SIGTERM" || !isTerminalForeground()) child.kill(signal);
  });
  return new Promise((done, fail) => {
    child.once("error", (error) => fail(new SetupError(`${command[0]} does not start: ${error.message}`)));
    child.once("exit", (code, signal) => {
      if (signal === null) process.exitCode = code;
      else endBy(signal);
      done();
    });
  });
}

/** The pinned Node stands before the shims of .bin, because a signal sent to a shim would not reach the program. */
function pathWith(runtime) {
  return [dirname(runtime), join(ROOT, "node_modules", ".bin"), process.env.PATH ?? "/usr/bin:/bin"].join(delimiter);
}

/**
 * Calls `onSignal` for every signal that asks this process to end. The end of a killed npm counts as one, too: it passed nothing on, and nobody
 * else would end this process. Another parent does not count: a shell may end and leave a program of its own running. Returns how to stop
 * listening.
 */
function onSignals(onSignal) {
  let isSignalled = false;
  const listener = (signal) => {
    isSignalled = true;
    onSignal(signal);
  };
  for (const signal of SIGNALS) process.on(signal, listener);
  if (process.env.npm_lifecycle_event !== undefined) whenParentIsGone(() => isSignalled || listener("SIGTERM"));
  return () => {
    isSignalled = true;
    for (const signal of SIGNALS) process.off(signal, listener);
  };
}

/** In a terminal's foreground, Ctrl-C and a hang-up have reached the child already, because it is in the same process group. */
function isTerminalForeground() {
  try {
    const fields = readFileSync("/proc/self/stat", "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return fields[2] === fields[5]; // the process group, and the foreground group of the terminal
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return isatty(0) || isatty(1) || isatty(2);
  }
}

/** Ends the way the child did, so that a shell or a supervisor sees the same end. */
function endBy(signal) {
  for (const forwarded of SIGNALS) process.removeAllListeners(forwarded);
  process.kill(process.pid, signal);
}
