import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { serve } from "@downlink/client/testing";
import { exportLinks } from "@downlink/protocol";
import type { Service } from "../login/open-service.ts";
import { type ExportedMessage, makeExport } from "../testing/make-export.ts";
import { type CatFlags, catMessages } from "./cat-messages.ts";

const START_NS = 1_760_000_000_000_000_000n;
const json = { messageEncoding: "json", schemaEncoding: "jsonschema", schemaName: "a.A", schema: Buffer.from("{}") };

/** Two messages have each time. */
const messages: readonly ExportedMessage[] = Array.from({ length: 200 }, (_, index) => ({
  topic: "/a",
  logTimeNs: START_NS + BigInt(Math.floor(index / 2)),
  data: Buffer.from(`{"index":${index}}`),
}));

interface Wanted {
  readonly flags?: CatFlags;
  readonly messages?: readonly ExportedMessage[];
  readonly encoded?: typeof json;
  /** How many bytes of each answer come before its connection breaks; the last one comes whole. */
  readonly breaksAfter?: readonly number[];
  readonly output?: Writable;
}

/** Prints what a service has, and returns the lines, the failure, and from when it was asked each time. */
async function cat({ flags = {}, messages: all = messages, encoded = json, breaksAfter = [], output }: Wanted) {
  const starts: (bigint | undefined)[] = [];
  await using server = await serve(async (_request, response) => {
    const from = starts.at(-1) ?? 0n;
    const bytes = await makeExport(
      encoded,
      all.filter(({ logTimeNs }) => logTimeNs >= from),
    );
    const cut = breaksAfter[starts.length - 1];
    response.setHeader("content-length", bytes.length);
    if (cut === undefined) response.end(bytes);
    else response.write(bytes.subarray(0, cut), () => response.destroy());
  });
  const call = async (operation: object, input: { start?: bigint }) => {
    if (operation !== exportLinks.create) return { id: "rec_1", start: START_NS, end: START_NS + 1000n };
    starts.push(input.start);
    return { link: server.url };
  };
  const { signal } = new AbortController();
  const service = { client: { call }, dispatcher: undefined, signal } as unknown as Service;
  const sink = new PassThrough();
  const printed = text(sink);
  const wanted = { recording: "rec_1", topics: ["/a"] };
  const failure = await catMessages(service, wanted, { ...flags, output: output ?? sink }).catch(String);
  sink.end();
  const lines = (await printed).trim().split("\n");
  return { lines: lines[0] === "" ? [] : lines.map((line) => JSON.parse(line)), failure, starts };
}

test("each message is a line with its time, topic and value, and --limit takes the first ones", async () => {
  const { lines, failure } = await cat({});
  assert.equal(failure, undefined);
  assert.deepEqual(
    lines.map(({ value }) => value.index),
    messages.map((_, index) => index),
  );
  assert.deepEqual(lines[3], { time: "2025-10-09T08:53:20.000000001Z", topic: "/a", value: { index: 3 } });
  assert.deepEqual((await cat({ flags: { limit: "2" } })).lines, lines.slice(0, 2));
});

test("after each break the rest is asked for, and no message is lost or comes twice, also of those with the same time", async () => {
  const { lines, failure, starts } = await cat({ breaksAfter: [900, 700, 1200] });
  assert.equal(failure, undefined);
  assert.deepEqual(
    lines.map(({ value }) => value.index),
    messages.map((_, index) => index),
  );
  assert.equal(starts.length, 4);
  assert.ok(starts[3]! > START_NS && starts[3]! < START_NS + 100n, String(starts));
});

test("a message that cannot be decoded is a line with the error, all others are printed, and the command fails at the end", async () => {
  const odd = messages.with(5, { ...messages[5]!, data: Buffer.from('{"index":') });
  const { lines, failure } = await cat({ messages: odd });
  assert.equal(lines.length, messages.length);
  assert.deepEqual(Object.keys(lines[5]), ["time", "topic", "error"]);
  assert.match(String(failure), /^RefusedError: 1 of 200 messages could not be decoded/);
  const unknown = await cat({ encoded: { ...json, messageEncoding: "flatbuffer" } });
  assert.match(unknown.lines[0].error, /^Messages in flatbuffer cannot be decoded/);
  const raw = await cat({ encoded: { ...json, messageEncoding: "flatbuffer" }, flags: { raw: "hex", limit: "1" } });
  assert.equal(raw.failure, undefined);
  const hex = Buffer.from('{"index":0}').toString("hex");
  assert.deepEqual(raw.lines, [
    { time: "2025-10-09T08:53:20Z", topic: "/a", encoding: "flatbuffer", schema: "a.A", raw: hex },
  ]);
});

test("a line is one line and harms no terminal, whatever a message and its topic have", async () => {
  const odd = {
    topic: "/\u001b[2J\n",
    logTimeNs: START_NS,
    data: Buffer.from('{\r\n "a": "\u009b\u2028",\n"n":12345678901234567890}\n'),
  };
  const output = new PassThrough();
  await cat({ messages: [odd], output });
  const line = await text(output.end());
  assert.match(line, /^[ -~]+\n$/);
  assert.ok(line.includes('"n":12345678901234567890'), line);
});

test("a reader that goes away ends the command, and is no error", async () => {
  let written = 0;
  const output = new Writable({
    write: (_chunk, _encoding, done) =>
      done(++written === 3 ? Object.assign(new Error("EPIPE"), { code: "EPIPE" }) : null),
  });
  output.on("error", () => {}); // As main.ts does.
  const { failure } = await cat({ output });
  assert.equal(failure, undefined);
  assert.ok(written < 10, String(written));
});
