import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeDurableFile } from "../durable/durable-file.ts";
import { MARKER_NAME } from "../files/root-marker.ts";
import type { EnrolmentPlaces } from "./enrolment-places.ts";

/** Removes what an enrolment wrote when it is disposed of or the process is interrupted, unless `keep` was called. */
export interface EnrolmentTraces extends Disposable {
  keep(): void;
}

/** The names of the agent's own files: all others in the directory belong to other programs. */
const OWN_NAMES = /^(agent\.|owner\.json|device-token\.json)/;

/** Must be called before anything is written. */
export function watchTraces({ configFile, stateDir, root }: EnrolmentPlaces): EnrolmentTraces {
  const marker = join(root, MARKER_NAME);
  const undo = [
    undoFiles(stateDir),
    undoDirectories(stateDir),
    undoFile(configFile),
    undoDirectories(dirname(configFile)),
    undoFile(marker),
  ];
  let isOver = false;
  const end = (isUndone: boolean) => {
    if (isOver) return;
    isOver = true;
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    if (isUndone) for (const step of undo) step();
  };
  const onSignal = () => {
    end(true);
    process.exit(1);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return { keep: () => end(false), [Symbol.dispose]: () => end(true) };
}

function undoFiles(directory: string): () => void {
  const before = new Set(namesIn(directory));
  return () => {
    const made = namesIn(directory).filter((name) => !before.has(name) && OWN_NAMES.test(name));
    for (const name of made) rmSync(join(directory, name), { force: true });
  };
}

function namesIn(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory) : [];
}

/** Removes only empty directories. */
function undoDirectories(directory: string): () => void {
  const missing: string[] = [];
  for (let at = directory; !existsSync(at); at = dirname(at)) missing.push(at);
  return () => {
    for (const path of missing) if (existsSync(path) && namesIn(path).length === 0) rmdirSync(path);
  };
}

function undoFile(path: string): () => void {
  const before = existsSync(path) ? readFileSync(path, "utf8") : undefined;
  return () => {
    rmSync(`${path}.partial`, { force: true });
    if (before === undefined) rmSync(path, { force: true });
    else if (readFileSync(path, "utf8") !== before) writeDurableFile(path, before, 0o600);
  };
}
