import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ApiCallError, type Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "../processes/control-plane.ts";
import { startSelfHostedSite } from "../processes/self-hosted-site.ts";
import { exportSlice } from "./export-slice.ts";
import { say, sayStep } from "./say.ts";

const START_NS = 1_767_409_445_000_000_000n; // 2026-01-03T03:04:05Z
const FILE = "plant/cell-7.mcap";

/** Runs a self-hosted site beside the control plane: a recording goes there, is read there, and is exported from there. */
export async function showSite({ url: controlPlane, admin }: ControlPlane, folder: string): Promise<void> {
  sayStep('A self-hosted site "plant": downlink site, a third process with a store of its own and no database');
  const { id: siteId } = await admin.call(api.sites.create, { name: "plant", type: "self-hosted" });
  const { token } = await admin.call(api.siteTokens.create, { siteId });
  const dataDir = join(folder, "plant");
  await using site = await startSelfHostedSite({ controlPlane, token: token!, dataDir });
  const { link, requestId } = await createLink(admin, siteId);
  say(`the upload link leads there: ${link.split("?", 1)[0]}`);
  const bytes = await makeMcap({ startNs: START_NS, durationSeconds: 20 });
  const { statusCode, body } = await request(link, { method: "PUT", body: bytes });
  if (statusCode !== 200) throw new Error(`the site answered ${statusCode}: ${await body.text()}`);
  const [ended] = await eventually(
    () => admin.call(api.pendingImports.list, { requestId, showCompleted: true, showQuarantined: true }),
    ([found]) => found?.terminal === true,
  );
  if (ended!.status !== "complete") throw new Error(`the import at the site failed: ${ended!.error}`);
  const objects = (await readdir(join(dataDir, "objects"), { recursive: true })).filter((name) =>
    name.includes("+upl_"),
  );
  say(
    `imported; its ${bytes.byteLength} bytes are in ${objects.length} file below ${dataDir}, and never passed ${controlPlane}`,
  );

  sayStep(`Exporting from the site at ${site.url}`);
  await exportSlice(admin, FILE);
}

/** The site gets its first key within seconds of its start. */
async function createLink(admin: Client, siteId: string): Promise<{ link: string; requestId: string }> {
  const body = { filename: FILE, deviceName: "cell-7", siteId };
  const found = await eventually(
    () => admin.call(api.uploads.create, body).catch(unlessUnavailable),
    (created) => created !== undefined,
  );
  return found!;
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiCallError && error.code === "SiteUnavailable")) throw error;
}
