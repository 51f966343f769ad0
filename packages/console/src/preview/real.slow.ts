import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { exportBytes } from "@downlink/recordings/testing";
import { streamOf } from "../testing/make-export.ts";
import { type Look, lookInto } from "./look.ts";
import { readSlice } from "./read-slice.ts";

/** Recordings of other programs, beside the repository; absent in most checkouts. */
const folder = fileURLToPath(new URL("../../../../../shared/data/real/", import.meta.url));
const skip = existsSync(folder) ? false : `the shared recordings are not beside this checkout (${folder})`;
/** These have no messages, or none that can be exported. */
const empty = ["ros1-empty-file.bag", "ros1-no-messages.bag", "sdk-empty.mcap"];

test("every topic of the real recordings is read: its fields, a message, and a picture or a way", {
  skip,
}, async () => {
  const seen: Record<string, Set<string>> = {};
  for (const fileName of readdirSync(folder).filter((name) => /\.(bag|mcap)$/.test(name) && !empty.includes(name))) {
    const bytes = await exportBytes(await readFile(join(folder, fileName)), { fileName, compression: "" });
    const slice = await readSlice(streamOf(bytes), { maxBytes: Number.POSITIVE_INFINITY });
    assert.equal(slice.end, "complete", fileName);
    const look = lookInto(slice);
    for (const { topic, schemaName, kind } of look.opened.topics) {
      const { encoded } = slice.topics.get(topic)!.messages[0] ?? {};
      if (!encoded || encoded.messageEncoding === "") continue;
      if (isService(encoded)) {
        assert.throws(() => look.fields({ topic }), /cannot be read as a ROS definition/);
        continue;
      }
      lookAt(look, { topic, kind }, `${fileName} ${topic} ${schemaName}`);
      seen[encoded.messageEncoding] = (seen[encoded.messageEncoding] ?? new Set()).add(kind);
    }
  }
  console.log(
    "looked into:",
    Object.entries(seen)
      .map(([encoding, kinds]) => `${encoding} (${[...kinds].join()})`)
      .join(", "),
  );
  assert.ok(Object.keys(seen).length >= 2);
});

/** Calls of services have two definitions in one text. */
function isService({ schema }: { readonly schema: Uint8Array }): boolean {
  return new TextDecoder().decode(schema).includes("\n---");
}

function lookAt(look: Look, { topic, kind }: { topic: string; kind: string }, name: string): void {
  const { fields } = look.fields({ topic });
  const { tree } = look.message({ topic, timeNs: 0 });
  assert.ok(Array.isArray(tree.children), name);
  const lines = fields.slice(0, 8).map((field) => ({ topic, field }));
  const plot = look.plot({ lines, startNs: 0, endNs: look.opened.endNs + 1, columns: 500 });
  assert.equal(plot.unreadable, 0, `${name}: ${plot.problem}`);
  for (const [index, points] of plot.points.entries()) {
    assert.ok(
      points.some((point) => point !== undefined),
      `${name} ${lines[index]!.field}`,
    );
  }
  if (kind === "image") assert.ok([...look.pictures({ topic, timeNs: 0 })][0]!.read(), name);
  if (kind === "track") assert.ok(look.track({ topic }).fixCount > 0, name);
}
