// Training sets are made in threads, because the process that starts them also answers calls; and because messages may come from anywhere, and a
// thread that takes too much memory or too long can be ended.

import { extname } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { threadEnvironment } from "@downlink/pictures/thread-environment";
import { expose } from "comlink";
import { Piscina } from "piscina";
import { type StoredEpisode, TrainingError } from "../episodes/episode.ts";
import type { EpisodeReport } from "../report/describe-episode.ts";
import type { SetOptions } from "../report/set-options.ts";
import type { Draft } from "../trial/draft-mapping.ts";
import type { Trial } from "../trial/try-episode.ts";
import { ServedHost } from "./host.ts";
import type { Answer, SentTask, Task, TaskResult } from "./tasks.ts";

interface Ended {
  /** Ends the thread; then the signal's reason is thrown. */
  readonly signal: AbortSignal;
}

type Writing = Omit<SetOptions, "episodes"> &
  Ended &
  Pick<Extract<Task, { name: "write" }>, "format"> & {
    /** As those of {@link SetOptions}. */
    readonly episodes: AsyncIterable<StoredEpisode>;
  };

/** Writes a training set. Throws {@link TrainingError} for episodes of which none can be made with the mapping, and what its functions throw. */
export async function writeSet({ format, mapping, about, ...host }: Writing): Promise<readonly EpisodeReport[]> {
  return (await runTask({ name: "write", format, mapping, about }, host)) as readonly EpisodeReport[];
}

type Trying = Omit<Extract<Task, { name: "try" }>, "name"> & Ended & { readonly episode: StoredEpisode };

/** Makes what a set of the format would have of one episode, with the first rows of `lerobot-v3`. Throws {@link TrainingError}. */
export async function tryEpisode({ episode, signal, ...task }: Trying): Promise<Trial> {
  return (await runTask({ name: "try", ...task }, { episodes: [episode], signal })) as Trial;
}

type Drafting = Omit<Extract<Task, { name: "draft" }>, "name"> & Ended & { readonly episode: StoredEpisode };

/** Guesses a mapping from the first message of each topic. Throws {@link TrainingError}. */
export async function draftMapping({ episode, signal, ...task }: Drafting): Promise<Draft> {
  return (await runTask({ name: "draft", ...task }, { episodes: [episode], signal })) as Draft;
}

type Hosting = ConstructorParameters<typeof ServedHost>[0] & Ended;

async function runTask(task: Task, { signal, ...serving }: Hosting): Promise<TaskResult> {
  const host = new ServedHost(serving);
  const { port1, port2 } = new MessageChannel();
  expose(host, port1 as Parameters<typeof expose>[1]);
  let answer: Answer;
  try {
    answer = await pool().run({ task, port: port2 }, { transferList: [port2], signal });
  } catch (error) {
    signal.throwIfAborted();
    throw host.failure ?? explain(error);
  } finally {
    port1.close();
    await host.abandon();
  }
  if ("refused" in answer) throw new TrainingError(answer.refused);
  return answer.result;
}

/** The objects of a thread. Typed arrays, with a number for each message or row, lie outside of them. */
const HEAP_MB = 1024;

function explain(error: unknown): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  return new TrainingError(`the set takes more than ${HEAP_MB} MB of memory`, { cause: error });
}

/** More than callers ask for at a time: the pool starts no thread for a task that waits when another task was ended. */
const MAX_THREADS = 32;
const IDLE_MS = 10_000;

let opened: Piscina<SentTask, Answer> | undefined;

/** A thread starts when it is needed, knows no secret, and ends when it had nothing to do for a while. */
function pool(): Piscina<SentTask, Answer> {
  opened ??= new Piscina({
    filename: new URL(`./thread-main${extname(import.meta.url)}`, import.meta.url).href,
    ...{ minThreads: 0, maxThreads: MAX_THREADS, idleTimeout: IDLE_MS, atomics: "disabled" },
    env: threadEnvironment(),
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 16 },
  });
  return opened;
}
