import assert from "node:assert/strict";
import { test } from "node:test";
import { START_NS, sampleTopics, sampleX, valuesOf } from "@downlink/messages/testing/sample-topics";
import { makeExport, streamOf } from "../testing/make-export.ts";
import { lookInto } from "./look.ts";
import { readSlice } from "./read-slice.ts";

const TOPICS = ["/json", "/protobuf", "/ros1", "/ros2"];
const open = async (topics: ReturnType<typeof sampleTopics>) =>
  lookInto(await readSlice(streamOf(await makeExport(topics))));

test("messages in each of the four encodings have the same fields and values", async () => {
  const look = await open(sampleTopics(50));
  assert.equal(look.opened.originNs, START_NS);
  assert.deepEqual(
    look.opened.topics.map(({ topic, messageCount }) => [topic, messageCount]),
    TOPICS.map((t) => [t, 50]),
  );
  for (const topic of TOPICS) {
    assert.deepEqual(
      look.fields({ topic }).fields,
      ["/is_on", "/motion/x", "/motion/y", "/ranges/0", "/ranges/1"],
      topic,
    );
    const { timeNs, tree } = look.message({ topic, timeNs: 70_000_000 });
    assert.equal(timeNs, 70_000_000);
    const { name, is_on, motion, ranges } = valuesOf(7);
    assert.deepEqual(
      tree.children,
      [
        { name: "name", text: name },
        { name: "is_on", text: String(is_on) },
        {
          name: "motion",
          text: "",
          children: [
            { name: "x", text: String(motion.x) },
            { name: "y", text: "0.5" },
          ],
        },
        {
          name: "ranges",
          text: "2 elements",
          children: ranges.map((range, index) => ({ name: String(index), text: String(range) })),
        },
      ],
      topic,
    );
  }
});

test("a line of each encoding goes through every sample, and a field that is not there gives an empty one", async () => {
  const look = await open(sampleTopics(50));
  const lines = [...TOPICS.map((topic) => ({ topic, field: "/motion/x" })), { topic: "/json", field: "/nothing" }];
  const plot = look.plot({ lines, startNs: 0, endNs: 490_000_000, columns: 4000 });
  const expected = Array.from({ length: 50 }, (_, index) => sampleX(index));
  for (const points of plot.points.slice(0, 4)) {
    assert.deepEqual(
      points.filter((point) => point !== undefined),
      expected,
    );
  }
  assert.deepEqual(new Set(plot.points[4]), new Set([undefined]));
  assert.deepEqual([plot.gaps, plot.unreadable, plot.problem], [[], 0, undefined]);
});

test("the line is broken where messages are missing, in each encoding, and nowhere else", async () => {
  const look = await open(sampleTopics(200, (index) => index < 80 || index >= 150));
  const lines = TOPICS.map((topic) => ({ topic, field: "/motion/x" }));
  const plot = look.plot({ lines, startNs: 0, endNs: 2_000_000_000, columns: 100 });
  const silence = { startNs: 790_000_000, endNs: 1_500_000_000 };
  assert.deepEqual(plot.gaps, [silence, silence, silence, silence]);
  for (const points of plot.points) {
    const breaks = plot.timesNs.filter((_, index) => points[index] === null);
    assert.ok(breaks.length > 60 && breaks.length < 75);
    assert.ok(breaks.every((timeNs) => timeNs > silence.startNs && timeNs < silence.endNs));
  }
});

test("messages that cannot be read are counted, with the reason, and the others are drawn", async () => {
  const [json] = sampleTopics(10);
  const messages = json!.messages.map((message, index) =>
    index === 3 ? { ...message, data: Buffer.from("{") } : message,
  );
  const look = await open([{ ...json!, messages }]);
  const plot = look.plot({ lines: [{ topic: "/json", field: "/motion/x" }], startNs: 0, endNs: 1e8, columns: 1000 });
  assert.deepEqual([plot.unreadable, plot.problem], [1, "The message is not JSON."]);
  assert.equal(plot.points[0]!.filter((point) => typeof point === "number").length, 9);
});

test("an encoding that is not known is named, and its topic is listed all the same", async () => {
  const [json] = sampleTopics(3);
  const look = await open([{ ...json!, topic: "/idl", messageEncoding: "cdr", schemaEncoding: "ros2idl" }]);
  assert.equal(look.opened.topics[0]!.messageCount, 3);
  assert.throws(() => look.fields({ topic: "/idl" }), /schema is in ros2idl cannot be decoded/);
  assert.throws(() => look.message({ topic: "/absent", timeNs: 0 }), /no message of \/absent/);
});

test("a log has a line for each message that can be read, and numbers those that cannot", async () => {
  const [json] = sampleTopics(3);
  const texts = ['{"level": 4, "name": "bumper", "message": "Contact"}', "{", '{"level": 2, "message": "Standing"}'];
  const messages = json!.messages.map((message, index) => ({ ...message, data: Buffer.from(texts[index]!) }));
  const look = await open([{ ...json!, schemaName: "foxglove.Log", messages }]);
  assert.deepEqual(look.log({ topic: "/json" }), {
    rows: [
      { timeNs: 0, level: "ERROR", node: "bumper", text: "Contact" },
      { timeNs: 20_000_000, level: "INFO", node: "", text: "Standing" },
    ],
    leftOut: 0,
    unreadable: 1,
    problem: "The message is not JSON.",
  });
});
