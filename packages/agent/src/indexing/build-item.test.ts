import assert from "node:assert/strict";
import { test } from "node:test";
import { EdgeItem } from "@downlink/protocol";
import type { TrackedFile } from "../inventory/tracked-file.ts";
import { itemOf } from "./build-item.ts";

test("a reason that quotes what a broken file says can always be reported", () => {
  const file = { versionId: "v".repeat(16), path: "a.mcap", identity: { sizeBytes: 1, mtimeNs: 1n } } as TrackedFile;
  const reason = { code: "BadChunk", text: `compression "l\0z4" ${"😀".repeat(1000)}` };
  const item = itemOf(file, "damaged", { headTailSha256: "0".repeat(64), reason });
  assert.ok(EdgeItem.safeEncode(item!).success);
  assert.match(item!.state === "damaged" ? item!.reason!.text : "", /^compression "l�z4"/);
});
