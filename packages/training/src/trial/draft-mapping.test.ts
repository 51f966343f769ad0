import assert from "node:assert/strict";
import { test } from "node:test";
import type { Episode } from "../episodes/episode.ts";
import { makeEpisode } from "../testing/make-episode.ts";
import { draftMapping } from "./draft-mapping.ts";

const messages = ["/fast", "/slow", "/text", "/broken"].map((topic, n) => ({ topic, atNs: BigInt(n), value: [n] }));
const made = makeEpisode({ messages: [...messages, { topic: "/note", atNs: 9n, value: { a: "b" } }] });
/** The messages of one topic are no JSON. */
const episode: Episode = {
  ...made,
  async *read(...wanted) {
    for await (const message of made.read(...wanted))
      yield message.channel.topic === "/broken" ? { ...message, data: Buffer.from("{") } : message;
  },
};
const draft = (topics: readonly (readonly [string, number | undefined])[]) =>
  draftMapping({ episode, topics: topics.map(([topic, rateHz]) => ({ topic, rateHz })), task: "pick" });

test("all topics that can be read are in a draft, and the fast ones with numbers become features", async () => {
  const { mapping, notes } = await draft([
    ["/slow", undefined],
    ["/note", 10],
    ["/fast", 20],
    ["/broken", 1],
    ["/none", 10],
  ]);
  assert.deepEqual(mapping, {
    topics: ["/fast", "/note", "/slow"],
    fps: 20,
    maxGapMs: 100,
    features: { "observation.state": { dtype: "float32", parts: [{ topic: "/fast" }] } },
  });
  assert.deepEqual(notes, [
    "/slow has too few messages for rows: fewer than 2 a second.",
    "/broken has too few messages for rows: fewer than 2 a second.",
    "/broken cannot be read: The message is not JSON.",
    "/note has no numbers and no picture in JPEG or PNG.",
    "/none has no message near the beginning of the first episode.",
  ]);
});

test("a draft may have topics alone, or there is none", async () => {
  assert.deepEqual((await draft([["/slow", 1]])).mapping, { topics: ["/slow"] });
  assert.equal((await draft([["/broken", 10]])).mapping, undefined);
});
