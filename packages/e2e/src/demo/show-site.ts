import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ApiCallError, type Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { type McapSpec, makeMcap } from "@downlink/recordings/testing";
import { request } from "undici";
import type { ControlPlane } from "../processes/control-plane.ts";
import { startSelfHostedSite } from "../processes/self-hosted-site.ts";
import { DemoError } from "./demo-error.ts";
import { exportSlice } from "./export-slice.ts";
import { say, sayStep } from "./say.ts";
import { awaitStart, type WaitFor, waitWhileRunning } from "./wait-for.ts";

const FILE = "plant/cell-7.mcap";

/** Runs a self-hosted site beside the control plane: a recording goes there, is read there, and is exported from there. */
export async function showSite(cloud: ControlPlane, folder: string, drive: McapSpec): Promise<void> {
  const { url: controlPlane, admin } = cloud;
  sayStep('A self-hosted site "plant": downlink site, a third process with a store of its own and no database');
  const { id: siteId } = await admin.call(api.sites.create, { name: "plant", type: "self-hosted" });
  const { token } = await admin.call(api.siteTokens.create, { siteId });
  const dataDir = join(folder, "plant");
  await using site = await awaitStart("the site", startSelfHostedSite({ controlPlane, token: token!, dataDir }));
  const waitFor = waitWhileRunning({ "the site": site.program, "the control plane": cloud.program });
  const { link, requestId } = await createLink(admin, siteId, waitFor);
  say(`the upload link leads there: ${link.split("?", 1)[0]}`);
  const bytes = await makeMcap({ ...drive, durationSeconds: 20 });
  const { statusCode, body } = await request(link, { method: "PUT", body: bytes });
  if (statusCode !== 200) throw new DemoError(`the site answered ${statusCode}: ${await body.text()}`);
  const ask = () => admin.call(api.pendingImports.list, { requestId, showCompleted: true, showQuarantined: true });
  const [ended] = await waitFor(ask, {
    isWanted: ([found]) => found?.terminal === true,
    describe: ([found]) => `the import at the site is ${found?.status ?? "not there yet"}`,
  });
  if (ended!.status !== "complete") throw new DemoError(`the import at the site failed: ${ended!.error}`);
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
async function createLink(
  admin: Client,
  siteId: string,
  waitFor: WaitFor,
): Promise<{ link: string; requestId: string }> {
  const body = { filename: FILE, deviceName: "cell-7", siteId };
  const found = await waitFor(() => admin.call(api.uploads.create, body).catch(unlessUnavailable), {
    isWanted: (created) => created !== undefined,
    describe: () => "the site has no key yet",
  });
  return found!;
}

function unlessUnavailable(error: unknown): undefined {
  if (!(error instanceof ApiCallError && error.code === "SiteUnavailable")) throw error;
}
