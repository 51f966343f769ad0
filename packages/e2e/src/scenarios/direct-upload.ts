import assert from "node:assert/strict";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { request } from "undici";
import { assertExportedExactly } from "../processes/compare-export.ts";
import { writeLargeFile } from "../processes/large-file.ts";
import { type Scenario, sha256Of } from "../processes/scenario.ts";

/** A client with a file asks for a link and sends the file there, without an agent. It is imported and exported exactly. */
export async function uploadsDirectly(scenario: Scenario): Promise<void> {
  const { admin } = scenario.cloud();
  const path = await writeLargeFile(scenario);
  const asked = await admin.call(api.uploads.create, { filename: basename(path), deviceName: "uploading" });
  const { size } = await stat(path);
  const headers = { "content-type": "application/octet-stream", "content-length": String(size) };
  const { statusCode, body } = await request(asked.link, { method: "PUT", headers, body: createReadStream(path) });
  assert.equal(statusCode, 200, await body.text());
  const query = { requestId: asked.requestId, showCompleted: true, showQuarantined: true };
  const [ended] = await eventually(
    () => admin.call(api.pendingImports.list, query),
    ([found]) => found?.terminal === true,
  );
  const recording = await admin.call(api.recordings.get, { keyOrId: ended!.recordingId! });
  assert.equal(recording.importStatus, "complete");
  const sha256 = await sha256Of(path);
  assert.ok((await scenario.storedObjects()).some((object) => object.sha256 === sha256));
  await assertExportedExactly(scenario, recording);
}
