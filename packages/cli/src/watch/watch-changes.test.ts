import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { answerJson, serve } from "@downlink/client/testing";
import { InterruptedError } from "../failures/failures.ts";
import type { Flags } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";
import { watchChanges } from "./watch-changes.ts";

const change = (id: number, kind = "recording") => ({ kind, id: `id_${id}`, projectId: "prj_1" });

interface Feed {
  /** The changes of each answer; the place before the first one is 0. */
  readonly answers: readonly (readonly object[])[];
  /** The calls whose answer is cut, by their number. */
  readonly cut?: ReadonlySet<number>;
  readonly missedAt?: number;
}

/** Starts a service with changes, and watches them; a call behind the last of them is never answered. */
async function startWatch({ answers, cut = new Set(), missedAt }: Feed, flags: Flags = {}) {
  let calls = 0;
  const isWaiting = Promise.withResolvers<void>();
  const server = await serve((request, response) => {
    calls += 1;
    const since = new URL(request.url!, "http://here").searchParams.get("since");
    if (since !== null && Number(since) >= answers.length) return isWaiting.resolve();
    const changes = since === null ? [] : answers[Number(since)];
    const body = {
      changes,
      next: String(since === null ? 0 : Number(since) + 1),
      isMissed: since === String(missedAt),
    };
    if (!cut.has(calls)) return answerJson(response, 200, body);
    response.writeHead(200, { "content-type": "application/json", "content-length": 1e6 });
    response.write(JSON.stringify(body), () => response.destroy());
  });
  const transport = undiciTransport();
  const interrupting = new AbortController();
  const client = createClient({ baseUrl: server.url, transport });
  const service = { client, signal: interrupting.signal } as unknown as Service;
  const [output, notes] = [new PassThrough(), new PassThrough()];
  const ends = { output, notes, backoff: { firstMs: 0, capMs: 0 } };
  const watching = watchChanges(service, flags, ends);
  const stop = () => interrupting.abort(new InterruptedError("SIGINT"));
  const text = (stream: PassThrough) => String(stream.read() ?? "");
  const dispose = async () => {
    await transport[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  return { watching, isWaiting: isWaiting.promise, stop, output, notes, text, [Symbol.asyncDispose]: dispose };
}

const parse = (lines: string) =>
  lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);

test("each change is one line, also where connections are cut in the middle of an answer, and Ctrl-C says where to go on", async () => {
  const answers = [[change(1), change(2)], [], [change(3)], [change(4)]];
  await using watch = await startWatch({ answers, cut: new Set([3, 4, 6, 8]) });
  await watch.isWaiting;
  watch.stop();
  await assert.rejects(watch.watching, (error) => error instanceof InterruptedError && error.exitCode === 130);
  assert.deepEqual(parse(watch.text(watch.output)), [
    { ...change(1), next: "0" },
    { ...change(2), next: "1" },
    { ...change(3), next: "3" },
    { ...change(4), next: "4" },
  ]);
  const notes = watch.text(watch.notes);
  assert.match(notes, /^dl: .*; dl goes on trying\ndl: the service answers again\n/);
  assert.match(notes, /\ndl: dl watch --since 4 continues\.\n$/);
});

test("changes that the service did not keep are a line of their own, and other kinds are none", async () => {
  const answers = [[], [change(1), change(2, "event"), change(3)]];
  await using watch = await startWatch({ answers, missedAt: 0 }, { since: "0", kind: ["event"] });
  await watch.isWaiting;
  watch.stop();
  await assert.rejects(watch.watching, InterruptedError);
  assert.deepEqual(parse(watch.text(watch.output)), [
    { isMissed: true, next: "1" },
    { ...change(2, "event"), next: "2" },
  ]);
});

test("a first call that fails ends it, and so does a reader that goes away, without an error", async () => {
  {
    await using watch = await startWatch({ answers: [], cut: new Set([1]) });
    await assert.rejects(watch.watching, /cannot reach/);
  }
  await using watch = await startWatch({ answers: [[change(1)]] });
  await once(watch.output, "readable");
  watch.output.destroy(new Error("EPIPE"));
  await watch.watching;
});
