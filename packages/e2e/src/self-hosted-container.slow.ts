import assert from "node:assert/strict";
import { after, test } from "node:test";
import { runAzurite, whyNoAzurite } from "@downlink/cloud/testing/run-azurite";
import { startControlPlane } from "./processes/control-plane.ts";
import { inContainer } from "./processes/in-container.ts";
import { refuseSite } from "./processes/refuse-site.ts";
import { describeSiteIn, startSiteIn } from "./scenarios/site-in-store.ts";

const skip = whyNoAzurite();
const azurite = skip === undefined ? await runAzurite() : undefined;
const container = await azurite?.makeContainer();
const running = azurite && (await startPlant());
after(() => azurite?.[Symbol.asyncDispose]());
const plant = () => running!;

async function startPlant() {
  const readNames = async () => (await azurite!.readBlobs(container!)).map(({ key }) => key);
  return await startSiteIn({ env: inContainer(azurite!, container!), readNames });
}

describeSiteIn({ noun: "container", kind: "azure", skip }, plant);

test("a container that cannot be written, or is a control plane's, is refused plainly and without a secret", {
  skip,
}, async () => {
  const { scenario, token, env } = plant();
  const dataDir = `${plant().dataDir}-refused`;
  const refused = (more: Readonly<Record<string, string>>) =>
    refuseSite({ controlPlane: scenario.proxy.url, token, dataDir, env: { ...env, ...more } });
  const sasToken = azurite!.signFor(container!, "rl");
  const output = await refused({ AZURE_STORAGE_KEY: "", AZURE_STORAGE_SAS_TOKEN: sasToken });
  assert.match(output, /DOWNLINK_AZURE_CONTAINER: .* it needs the permission to write/);
  assert.ok(!output.includes(new URLSearchParams(sasToken).get("sig")!));

  const theirs = { DOWNLINK_AZURE_CONTAINER: await azurite!.makeContainer() };
  const cloud = await startControlPlane({ dataDir: `${dataDir}-cloud`, env: { ...env, ...theirs } });
  await cloud[Symbol.asyncDispose]();
  assert.match(await refused(theirs), /DOWNLINK_AZURE_CONTAINER: .* is the store of a control plane; use another/);
});
