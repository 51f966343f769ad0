import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { corrupt } from "../testing/corrupt.ts";
import { chunksOf, hundredChunks } from "../testing/hundred-chunks.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { readMessages } from "../testing/read-messages.ts";
import { salvage } from "../testing/salvage-bytes.ts";
import { SalvageEmptyError } from "./salvage-recording.ts";

test("whatever was done to a file, its salvage is a finished recording, or it is said that nothing can be read", async () => {
  const attachments = [0, 1].map((seed) => ({ name: `map-${seed}.bin`, data: new Uint8Array(20_000).fill(seed + 1) }));
  const whole = await makeMcap({ chunkBytes: 20_000, attachments });
  let salvaged = 0;
  for (const { name, bytes, fileName } of corrupt(whole, "run.mcap")) {
    try {
      const inspection = await inspectRecording(bytesSource(await salvage(bytes, fileName)), {
        fileName: "a.mcap",
        verifyChunks: true,
      });
      assert.ok(inspection.state === "finished" || inspection.state === "empty", `${name}: ${inspection.state}`);
      salvaged += 1;
    } catch (error) {
      assert.ok(error instanceof SalvageEmptyError, `${name}: ${String(error)}`);
    }
  }
  assert.ok(salvaged > 20, `${salvaged} variants`);
});

test("one flipped bit anywhere costs the chunk that it is in, not those behind it", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const whole = await hundredChunks(compression);
    const places = chunksOf(whole);
    const { at, bytes, messageCount } = places[4]!;
    assert.ok(places.length >= 100 && messageCount <= 10);
    // These are the opcode, the record's length, times, sizes, checksum, the name of the compression, and the content.
    for (const offset of [0, 1, 3, 8, 9, 24, 25, 31, 33, 37, 40, 41, 48, 60, bytes - 1])
      for (const bit of [1, 0x40]) {
        const salvaged = readMessages(await salvage(whole.with(at + offset, whole[at + offset]! ^ bit)));
        assert.ok(
          salvaged.length >= 1000 - messageCount,
          `${compression} byte ${offset} bit ${bit}: ${salvaged.length} of 1000`,
        );
      }
  }
});
