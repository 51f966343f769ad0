import assert from "node:assert/strict";
import { test } from "node:test";
import { characterAt, LAST_CHARACTER, slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { exportFileName } from "./export-file-name.ts";

test("an export is named by its device, its beginning and its topic, if there is one of each", () => {
  const one = {
    deviceNames: ["rover-2"],
    startNs: 1_776_135_612_000_000_001n,
    topics: ["/imu"],
    format: "mcap",
  } as const;
  assert.equal(exportFileName(one), "rover-2_2026-04-14T03-00-12Z_imu.mcap");
  assert.equal(exportFileName({ ...one, topics: ["/camera/front", "/imu"] }), "rover-2_2026-04-14T03-00-12Z.mcap");
  assert.equal(
    exportFileName({ ...one, topics: ["/camera/front"], format: "bag1" }),
    "rover-2_2026-04-14T03-00-12Z_camera-front.bag",
  );
  assert.equal(exportFileName({ ...one, deviceNames: ["a", "b"], startNs: undefined, topics: [] }), "recordings.mcap");
});

slowTest(
  "whatever names robots use, the file name has no character that a file system or a shell treats specially",
  () => {
    const texts = fc.array(fc.oneof(fc.string({ unit: fc.nat(LAST_CHARACTER).map(characterAt) }), fc.string()), {
      maxLength: 2,
    });
    const startNs = fc.option(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n), { nil: undefined });
    fc.assert(
      fc.property(texts, texts, startNs, (deviceNames, topics, at) => {
        const name = exportFileName({ deviceNames, topics, startNs: at, format: "mcap" });
        assert.match(name, /^(?![.-])[A-Za-z0-9._-]{1,200}\.mcap$/);
      }),
    );
  },
);
