import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readMapping } from "./read-mapping.ts";

const folder = mkdtempSync(join(tmpdir(), "downlink-dl-"));

async function read(text: string, { file = "arm.yaml", name }: { file?: string; name?: string } = {}) {
  const path = join(folder, file);
  writeFileSync(path, text);
  return readMapping(path, name).catch((error: Error) => String(error).replaceAll(`${folder}/`, ""));
}

const mapping = { fps: 30, features: { "observation.state": { dtype: "float32", parts: [{ topic: "/joints" }] } } };
const yaml = `# of the left arm
fps: 30
features:
  observation.state:
    dtype: float32
    parts:
      - topic: /joints
`;

test("a mapping is read from YAML and from JSON, and has the name of its file unless one is given", async () => {
  assert.deepEqual(await read(yaml), { name: "arm", mapping });
  const json = { file: "arm.v2.json" };
  assert.deepEqual(await read(JSON.stringify(mapping), json), { name: "arm.v2", mapping });
  assert.deepEqual(await read(JSON.stringify(mapping, undefined, "\t"), json), { name: "arm.v2", mapping });
  assert.deepEqual(await read(yaml, { name: "left" }), { name: "left", mapping });
});

test("what is wrong is said with its line, and a field with its path", async () => {
  const state = "features.observation.state";
  for (const [text, sentence] of [
    [yaml.replace("30", "0"), "arm.yaml:2: fps must be at least 1"],
    [yaml.replace("30", "thirty"), "arm.yaml:2: fps must be a whole number from 1 to 1000"],
    [yaml.replace("fps: 30\n", ""), "arm.yaml:2: fps must be there where features are"],
    [
      yaml.replace("topic", "topik"),
      `arm.yaml:7: ${state}.parts.0.topic is required; arm.yaml:7: ${state}.parts.0 must not have "topik"`,
    ],
    [
      yaml.replace("float32", "float16"),
      `arm.yaml:5: ${state}.dtype must be one of "float32", "float64", "int64", "bool", "string", "image"`,
    ],
    [
      `${yaml}        align: interpolate\n`.replace("float32", "int64"),
      `arm.yaml:8: ${state}.parts.0.align must be hold or nearest, unless the dtype is a float`,
    ],
    [yaml.replace("observation.state", "task"), "arm.yaml:4: features.task has a name that must be none of timestamp"],
    [`${yaml}fps: 20\n`, "arm.yaml:8: Map keys must be unique"],
    [yaml.replace("/joints", "*joints"), "arm.yaml: Unresolved alias"],
    [yaml.replace("/joints", '"/joints'), "arm.yaml:8: Missing closing"],
    ["- 1\n", "arm.yaml:1: the mapping must be an object"],
    ["", "arm.yaml:1: the mapping"],
  ] as const)
    assert.equal(String(await read(text)).slice(0, "UsageError: ".length + sentence.length), `UsageError: ${sentence}`);
  assert.match(
    String(await read(yaml, { name: "x".repeat(101) })),
    /^UsageError: --name must hold at most 100 characters$/,
  );
  assert.match(
    String(await read(`#${" ".repeat(2_000_000)}`)),
    /^UsageError: arm\.yaml is larger than a mapping can be$/,
  );
});
