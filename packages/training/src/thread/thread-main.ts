import { readMcap } from "@downlink/messages/read-mcap";
import { type Remote, releaseProxy, transfer, wrap } from "comlink";
import { type Episode, type EpisodeFacts, TrainingError, type Window } from "../episodes/episode.ts";
import { setWriters } from "../formats/writers.ts";
import { draftMapping } from "../trial/draft-mapping.ts";
import { tryEpisode, tryTables } from "../trial/try-episode.ts";
import type { Host } from "./host.ts";
import type { Answer, SentTask, Task, TaskResult } from "./tasks.ts";

/*
 * The program of a thread that makes training sets. It has neither store nor database nor environment: the process that started it reads the
 * bytes of episodes for it, and takes those of its files.
 */

/** Runs a task, and answers with its result or with a refusal for people; throws all other errors. */
// biome-ignore lint/style/noDefaultExport: the pool calls the default export of its file.
export default async function runTask({ task, port }: SentTask): Promise<Answer> {
  const host = wrap<Host>(port as Parameters<typeof wrap>[0]);
  try {
    return { result: await run(task, host) };
  } catch (error) {
    if (error instanceof TrainingError) return { refused: error.message };
    throw error;
  } finally {
    host[releaseProxy]();
    port.close();
  }
}

async function run(task: Task, host: Remote<Host>): Promise<TaskResult> {
  if (task.name === "write") return writeSet(task, host);
  const [episode] = await Array.fromAsync(readEpisodes(host));
  if (task.name === "draft") return draftMapping({ ...task, episode: episode! });
  const { mapping, rowCount } = task;
  return task.format === "parquet" ? tryTables(mapping, episode!) : tryEpisode(mapping, episode!, rowCount);
}

function writeSet({ format, mapping, about }: Extract<Task, { name: "write" }>, host: Remote<Host>) {
  return setWriters[format].write({
    ...{ mapping, about },
    episodes: { [Symbol.asyncIterator]: () => readEpisodes(host) },
    open: (path) => openFile(host, path),
    onEpisode: (count) => host.done(count),
  });
}

async function* readEpisodes(host: Remote<Host>): AsyncGenerator<Episode> {
  await host.rewind();
  for (let facts = await host.next(); facts; facts = await host.next()) yield toEpisode(host, facts);
}

function toEpisode(host: Remote<Host>, facts: EpisodeFacts): Episode {
  return { ...facts, read: (topics, window) => readMcap(pull(host, topics, window)) };
}

/** Asks for the next bytes before those that are there are read, so that the process works beside the thread. */
async function* pull(
  host: Remote<Host>,
  topics: readonly string[],
  { startNs, endNs }: Window,
): AsyncGenerator<Uint8Array> {
  const reading = await host.begin(topics, { startNs, endNs });
  const ask = () => {
    const asked = host.pull(reading);
    asked.catch(() => undefined); // the loop below hears of it
    return asked;
  };
  try {
    let next = ask();
    for (let bytes = await next; bytes; bytes = await next) {
      next = ask();
      yield bytes;
    }
  } finally {
    await host.end(reading);
  }
}

function openFile(host: Remote<Host>, path: string) {
  const opened = host.open(path);
  return {
    async write(bytes: Uint8Array) {
      const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
      await host.write(await opened, transfer(own, [own.buffer as ArrayBuffer]));
    },
    close: async () => host.close(await opened),
  };
}
