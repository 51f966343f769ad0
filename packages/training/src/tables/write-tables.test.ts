import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type Encoded, makeDecode } from "@downlink/messages/decode";
import type { Message } from "@downlink/messages/read-mcap";
import { PROTOBUF_SCHEMA, protobufMessages } from "@downlink/messages/testing/every-protobuf";
import { encodeRos2, ROS2_SCHEMA, ros2Messages } from "@downlink/messages/testing/every-ros2";
import { START_NS, sampleTopics } from "@downlink/messages/testing/sample-topics";
import type { Value } from "@downlink/messages/value";
import { TrainingMapping } from "@downlink/protocol";
import fc from "fast-check";
import { parquetMetadata, parquetReadObjects } from "hyparquet";
import type { Episode } from "../episodes/episode.ts";
import { MemoryFiles } from "../testing/memory-files.ts";
import { tryTables } from "../trial/try-episode.ts";
import { type TableLimits, tableLimits } from "./table.ts";
import { folderOf } from "./topic-tables.ts";
import { writeTopicTables } from "./write-tables.ts";

interface Encodings extends Encoded {
  readonly topic: string;
  readonly messages: readonly Uint8Array[];
}

/** Makes an episode of some topics, with a message of each in turn. */
function episodeOf(id: string, topics: readonly Encodings[]): Episode {
  const most = Math.max(...topics.map(({ messages }) => messages.length));
  const all = Array.from({ length: most }).flatMap((_, n) =>
    topics.flatMap(({ messages, ...channel }): Message[] => {
      const data = messages[n];
      const atNs = START_NS + BigInt(n);
      return data ? [{ channel, logTimeNs: atNs, publishTimeNs: atNs - 1n, sequence: 2 ** 32 - 1 - n, data }] : [];
    }),
  );
  return {
    ...{
      id,
      startNs: START_NS,
      endNs: START_NS + BigInt(most),
      metadata: {},
      recordings: [{ id: "rec_1", sha256: "ab" }],
    },
    async *read(wanted) {
      for (const { data, ...message } of all) {
        if (!wanted.includes(message.channel.topic)) continue;
        const lent = Buffer.from(data); // valid until the next one is asked for
        yield { ...message, data: lent };
        lent.fill(0xee);
      }
    },
  };
}

async function write(episodes: readonly Episode[], topics: readonly string[], limits: Partial<TableLimits> = {}) {
  const files = new MemoryFiles();
  const counts: number[] = [];
  const options = {
    ...{ mapping: TrainingMapping.parse({ topics }), episodes, about: { version: 1 }, open: files.open },
    onEpisode: (count: number) => void counts.push(count),
  };
  const reports = await writeTopicTables(options, { ...tableLimits, ...limits });
  return { files, reports, counts, about: JSON.parse(files.read("downlink.json").toString()) };
}

type Row = Record<string, unknown>;

async function readRows(files: MemoryFiles, path: string): Promise<Row[]> {
  const file = new Uint8Array(files.read(path)).buffer;
  const parsers = { timestampFromNanoseconds: (at: bigint) => at, jsonFromBytes: (bytes?: Uint8Array) => bytes };
  return parquetReadObjects({ file, utf8: false, parsers: parsers as never });
}

async function readTopic(files: MemoryFiles, topic: string): Promise<Row[]> {
  const paths = files.paths.filter((path) => path.startsWith(`${folderOf(topic)}/`));
  return (await Promise.all(paths.map((path) => readRows(files, path)))).flat();
}

const samples = sampleTopics(20).map(({ messages, ...topic }) => ({
  ...topic,
  messages: messages.map(({ data }) => data),
}));
const sampleNames = samples.map(({ topic }) => topic);

test("a set has a folder for each topic, and the same input gives the same bytes", async () => {
  const episodes = [episodeOf("epi_1", samples), episodeOf("epi_2", samples)];
  const { files, about } = await write(episodes, sampleNames);
  const folders = sampleNames.map((topic) => `topics/${topic.slice(1)}-${sha256(topic).slice(0, 8)}/0-000.parquet`);
  assert.deepEqual(files.paths, ["downlink.json", ...folders].sort());
  const messages = Object.fromEntries(sampleNames.map((topic) => [topic, 20]));
  assert.deepEqual(
    about.episodes.map((one: Row) => [one.episodeId, one.messages]),
    [
      ["epi_1", messages],
      ["epi_2", messages],
    ],
  );
  const again = (await write(episodes, sampleNames)).files;
  const sum = createHash("sha256");
  for (const path of files.paths) {
    assert.ok(files.read(path).equals(again.read(path)), path);
    sum.update(files.read(path));
  }
  // Where this changes, PARQUET_WRITER_VERSION is raised.
  assert.equal(sum.digest("hex"), "aea153fa13c6894e47b85c72712723071a64a63373acf3caddb3619ea00ecbaa");
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

test("topics have folders of their own, whatever their names are", () => {
  assert.match(folderOf("/Arm/joint states"), /^topics\/Arm_joint_states-[0-9a-f]{8}$/);
  assert.match(folderOf("/../é"), /^topics\/topic-[0-9a-f]{8}$/);
  assert.notEqual(folderOf("/a/b"), folderOf("/a_b"));
  assert.ok(folderOf("x".repeat(1000)).length < 120);
});

/** Says whether a value that was read is the one that was decoded; null is read where there is none. */
function requireSame(read: unknown, decoded: Value | undefined, path: string): void {
  if (decoded === undefined || decoded === null) assert.equal(read ?? null, null, path);
  else if (typeof read === "bigint") assert.equal(read, BigInt(decoded as bigint), path);
  else if (decoded instanceof Uint8Array) assert.ok(Buffer.from(decoded).equals(read as Uint8Array), path);
  else if (typeof decoded !== "object") assert.ok(Object.is(read, decoded), `${path}: ${read} and ${decoded}`);
  else if (Array.isArray(decoded) || ArrayBuffer.isView(decoded)) {
    const [values, expected] = [read as unknown[], [...(decoded as Value[])]];
    assert.equal(values.length, expected.length, path);
    for (const [n, one] of expected.entries()) requireSame(values[n], one, `${path}.${n}`);
  } else if (read instanceof Uint8Array)
    assert.deepEqual(JSON.parse(Buffer.from(read).toString()), toJson(decoded), path);
  else requireFields(read as Row, decoded, path);
}

/** Returns a value as JSON has it. */
function toJson(value: Value): unknown {
  if (typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))) return String(value);
  if (typeof value !== "object" || value === null) return value === 0 ? 0 : value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (Array.isArray(value)) return value.map(toJson);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJson(inner)]));
}

function requireFields(read: Row, decoded: Readonly<Record<string, Value>>, path: string): void {
  for (const name of new Set([...Object.keys(read), ...Object.keys(decoded)])) {
    const value = decoded[name];
    if (typeof value === "object" && value !== null && Object.keys(value).length === 0 && !(name in read)) continue;
    requireSame(read[name], value, `${path}.${name}`);
  }
}

const ros1Schema = `int8 a\nuint64 b\ntime c\nduration d\nfloat32[3] e\nuint8[4] f\na/In[2] g\nbool[2] h\nuint32 i\nint64[] z
${"=".repeat(80)}\nMSG: a/In\nfloat64 x\nuint16 y\n`;
/** The bytes before the array at the end, which is empty. */
const ros1Bytes = fc
  .uint8Array({ minLength: 67, maxLength: 67 })
  .map((bytes) => Buffer.concat([bytes, Buffer.alloc(4)]));

const encodings: [Encoded, fc.Arbitrary<Uint8Array>][] = [
  [schemaOf("ros1", "ros1msg", Buffer.from(ros1Schema)), ros1Bytes],
  [schemaOf("cdr", "ros2msg", Buffer.from(ROS2_SCHEMA)), ros2Messages.map(encodeRos2)],
  [{ ...schemaOf("protobuf", "protobuf", PROTOBUF_SCHEMA), schemaName: "a.All" }, protobufMessages],
];

function schemaOf(messageEncoding: string, schemaEncoding: string, schema: Uint8Array): Encoded {
  return { messageEncoding, schemaEncoding, schemaName: "a/A", schema };
}

for (const [encoded, arbitrary] of encodings)
  test(`every value of a message in ${encoded.messageEncoding} is read back`, async () => {
    const decode = makeDecode(encoded);
    const many = fc.array(arbitrary, { minLength: 1, maxLength: 12 });
    const property = fc.asyncProperty(many, fc.integer({ min: 1, max: 5 }), async (messages, groupRows) => {
      const topic = { ...encoded, topic: "/x", messages };
      const { files } = await write([episodeOf("epi_1", [topic])], ["/x"], { groupRows, fileBytes: 4000 });
      const rows = await readTopic(files, "/x");
      assert.equal(rows.length, messages.length);
      for (const [n, { log_time, publish_time, sequence, episode_id, ...fields }] of rows.entries()) {
        const own = [log_time, publish_time, sequence, episode_id];
        assert.deepEqual(own, [START_NS + BigInt(n), START_NS + BigInt(n) - 1n, 2 ** 32 - 1 - n, "epi_1"]);
        requireFields(fields, decode(messages[n]!) as Record<string, Value>, `${n}`);
      }
    });
    await fc.assert(property, { numRuns: 60 });
  });

test("zero keeps its sign", async () => {
  const messages = Array.from({ length: 40 }, (_, n) => Buffer.from(new Float64Array([n % 2 === 0 ? 0 : -0]).buffer));
  const topic = { ...schemaOf("ros1", "ros1msg", Buffer.from("float64 x\n")), topic: "/x", messages };
  const { files } = await write([episodeOf("epi_1", [topic])], ["/x"]);
  for (const [n, { x }] of (await readTopic(files, "/x")).entries()) assert.ok(Object.is(x, n % 2 === 0 ? 0 : -0));
});

const jsonEncoding = schemaOf("json", "jsonschema", Buffer.from("{}"));
const jsonTopic = (messages: readonly string[], topic = "/json"): Encodings => {
  return { ...jsonEncoding, topic, messages: messages.map((text) => Buffer.from(text)) };
};
const textOf = (row: Row) => row.json && Buffer.from(row.json as Uint8Array).toString();

test("every message in JSON is there as it came, and its columns have its values, or none where it differs", async () => {
  const messages = fc.array(fc.json({ maxDepth: 3, noUnicodeString: true } as never), { minLength: 1, maxLength: 20 });
  const property = fc.asyncProperty(messages, fc.integer({ min: 1, max: 5 }), async (texts, lookRows) => {
    const { files } = await write([episodeOf("epi_1", [jsonTopic(texts)])], ["/json"], { lookRows });
    const rows = await readTopic(files, "/json");
    assert.deepEqual(rows.map(textOf), texts);
    for (const [n, { json, log_time, publish_time, sequence, episode_id, ...fields }] of rows.entries()) {
      const value = JSON.parse(texts[n]!);
      for (const [name, read] of Object.entries(fields)) requireSameOrNone(read, value?.[name], `${n}.${name}`);
    }
  });
  await fc.assert(property, { numRuns: 60 });
});

function requireSameOrNone(read: unknown, value: unknown, path: string): void {
  if (read === null || read === undefined) return;
  if (typeof read !== "object" || Array.isArray(read)) requireSame(read, value as Value, path);
  else
    for (const [name, inner] of Object.entries(read)) requireSameOrNone(inner, (value as Row)[name], `${path}.${name}`);
}

test("fields of JSON become columns by what the first messages have", async () => {
  const first = ['{"n":1,"on":true,"at":{"x":0.5,"y":"a"},"list":[1,2],"mixed":1,"none":null,"a.b":1}'];
  const second = '{"n":2.5,"mixed":"x","list":[],"at":{"x":1},"json":"taken","sequence":7}';
  const later = '{"n":"three","list":[1,"x"],"at":3,"new":1}';
  const { files } = await write([episodeOf("epi_1", [jsonTopic([...first, second, later])])], ["/json"], {
    lookRows: 2,
  });
  const rows = await readTopic(files, "/json");
  const shown = rows.map(({ json, log_time, publish_time, sequence, episode_id, ...fields }) => fields);
  assert.deepEqual(shown, [
    { n: 1, on: true, at: { x: 0.5, y: "a" }, list: [1, 2], json_: null, sequence_: null },
    { n: 2.5, on: null, at: { x: 1, y: null }, list: [], json_: "taken", sequence_: 7 },
    { n: null, on: null, at: undefined, list: undefined, json_: null, sequence_: null },
  ]);
});

test("a message that cannot be read is a row without values, and the report says so", async () => {
  const [, protobuf] = samples;
  const broken = { ...protobuf!, messages: [protobuf!.messages[0]!, Buffer.from([0xff]), protobuf!.messages[2]!] };
  const { files, reports } = await write([episodeOf("epi_1", [broken, jsonTopic(["{", "1"])])], ["/protobuf", "/json"]);
  assert.deepEqual(
    (await readTopic(files, "/protobuf")).map(({ name }) => name ?? null),
    ["sample 0", null, "sample 2"],
  );
  assert.deepEqual((await readTopic(files, "/json")).map(textOf), [null, "1"]);
  const [{ rowCount, leftOut }] = reports as [(typeof reports)[number]];
  assert.equal(rowCount, 5);
  assert.match(
    leftOut!,
    /^1 messages of \/protobuf cannot be read: .*[^.]; 1 messages of \/json cannot be read: The message is not JSON$/,
  );
});

test("a trial says of each topic which columns its table would have", async () => {
  const mapping = TrainingMapping.parse({ topics: ["/json", "/none", "/protobuf"] });
  const [, protobuf] = samples;
  const broken = { ...protobuf!, messages: [Buffer.from([0xff]), protobuf!.messages[0]!] };
  const { report } = await tryTables(mapping, episodeOf("epi_1", [broken, jsonTopic(['{"a":{"b":[1]},"c":"d"}'])]));
  assert.deepEqual([report.rowCount, report.pieceCount], [3, 1]);
  assert.deepEqual(
    report.parts.map(({ topic, messageCount, withoutValue }) => [topic, messageCount, withoutValue]),
    [
      ["/json", 1, 0],
      ["/none", 0, 0],
      ["/protobuf", 1, 1],
    ],
  );
  const [json, none, last] = report.parts.map(({ columns }) => columns!.map(({ name, type }) => `${name} ${type}`));
  assert.deepEqual([json, none], [["a.b[] float64", "c text"], []]);
  assert.ok(last!.includes("name text"), last!.join());
  const silent = await tryTables(TrainingMapping.parse({ topics: ["/none"] }), episodeOf("epi_1", [broken]));
  assert.deepEqual([silent.report.rowCount, silent.report.leftOut], [0, "it has no message of the topics"]);
});

test("each schema of a topic has files of its own, and a file that is full is followed by the next part", async () => {
  const texts = Array.from({ length: 40 }, (_, n) => `{"text":"${sha256(`${n}`)}"}`);
  const [first, second] = [jsonTopic(texts), { ...jsonTopic(texts), schemaName: "b" }];
  const limits = { groupRows: 10, fileBytes: 2500, lookRows: 1 };
  const { files } = await write([episodeOf("epi_1", [first, second])], ["/json"], limits);
  const names = files.paths.map((path) => path.split("/").at(-1)).filter((name) => name!.endsWith("t"));
  assert.deepEqual(names, ["0-000.parquet", "0-001.parquet", "1-000.parquet", "1-001.parquet"]);
  for (const path of files.paths.filter((one) => one.endsWith("t"))) {
    const { row_groups: groups } = parquetMetadata(new Uint8Array(files.read(path)).buffer);
    assert.deepEqual(
      groups.map(({ num_rows }) => num_rows),
      [10n, 10n],
    );
  }
  assert.deepEqual((await readTopic(files, "/json")).map(textOf), [...texts, ...texts]);
});

test("many topics, many schemas and little memory give the same rows", async () => {
  const names = Array.from({ length: 20 }, (_, n) => `/t${n}`);
  const topics = names.map((topic) => jsonTopic([`{"topic":"${topic}"}`, "{}", "{}"], topic));
  const schemas = Array.from({ length: 20 }, (_, n) => ({ ...jsonTopic(["1", "2"], "/many"), schemaName: `${n}` }));
  const episode = episodeOf("epi_1", [...topics, ...schemas]);
  const episodes = [episode, episodeOf("epi_2", topics)];
  const { files, counts } = await write(episodes, [...names, "/many"], { heldBytes: 0 });
  for (const topic of names) {
    const rows = await readTopic(files, topic);
    assert.deepEqual(
      rows.map(({ episode_id }) => episode_id).sort(),
      [..."111222"].map((n) => `epi_${n}`),
    );
    assert.equal(rows.filter((row) => row.topic === topic).length, 2);
  }
  assert.equal((await readTopic(files, "/many")).length, 40);
  assert.equal(files.mostOpen, 16);
  assert.deepEqual(counts, [0, 0, 1, 1, 1, 2]); // in three readings
});

test("types are those of the schema: their width, sign and meaning are in the file", async () => {
  const text = "uint64 a\nint8 b\nuint8[] c\nint16[] d\ntime e\na/Nothing f\nuint32 log_time\n";
  const schema = `${text}${"=".repeat(80)}\nMSG: a/Nothing\n`;
  const topic = { ...schemaOf("ros1", "ros1msg", Buffer.from(schema)), topic: "/x", messages: [Buffer.alloc(33)] };
  const { files } = await write([episodeOf("epi_1", [topic])], ["/x"]);
  const { schema: elements, key_value_metadata: facts } = parquetMetadata(
    new Uint8Array(files.read(`${folderOf("/x")}/0-000.parquet`)).buffer,
  );
  const shown = elements.map(({ name, type, converted_type: kind }) => [name, type, kind].filter(Boolean).join(" "));
  assert.deepEqual(shown.slice(1), [
    ...["log_time INT64", "publish_time INT64", "sequence INT32 UINT_32", "episode_id BYTE_ARRAY UTF8"],
    ...["a INT64 UINT_64", "b INT32 INT_8", "c BYTE_ARRAY", "d LIST", "list", "element INT32 INT_16"],
    ...["e", "sec INT32 UINT_32", "nsec INT32 UINT_32", "log_time_ INT32 UINT_32"],
  ]);
  assert.deepEqual(elements[1]!.logical_type, { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "NANOS" });
  assert.deepEqual(
    facts!.map(({ key, value }) => `${key} ${value}`),
    [...["topic /x", "messageEncoding ros1", "schemaEncoding ros1msg", "schemaName a/A"]],
  );
});

test("refused with a sentence: topics without a message, and schemas that cannot be read", async () => {
  const refused = (sentence: RegExp) => ({ name: "TrainingError", message: sentence });
  await assert.rejects(
    write([episodeOf("epi_1", samples)], ["/none"]),
    refused(/no episode has a message of the topics/),
  );
  const unknown = { ...schemaOf("cbor", "", Buffer.alloc(0)), topic: "/x", messages: [Buffer.alloc(1)] };
  await assert.rejects(
    write([episodeOf("epi_1", [unknown])], ["/x"]),
    refused(/the topic \/x \(cbor, a\/A\) cannot be read/),
  );
});
