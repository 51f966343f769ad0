import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { pino } from "pino";
import { readSiteConfig } from "../config.ts";
import { serveApp } from "../server.ts";
import { type OpenSite, openSite } from "../site/self-hosted/open-site.ts";
import type { TestCloud } from "./start-cloud.ts";

/** The process of a self-hosted site, beside a control plane. */
export interface RunningSite extends AsyncDisposable {
  readonly siteId: string;
  readonly url: string;
  readonly dataDir: string;
  readonly site: OpenSite;
}

export interface SiteOf {
  readonly siteId: string;
  readonly token: string;
  readonly dataDir: string;
  /** Where the process looks for its control plane. */
  readonly controlPlane: string;
  readonly port?: string;
  readonly inboxDir?: string;
}

/** Creates a site with a token and an empty data folder, which is removed after the test. */
export async function createSite(
  t: { after(close: () => Promise<void>): void },
  cloud: TestCloud,
  name: string,
): Promise<SiteOf> {
  const { id: siteId } = await cloud.admin.call(api.sites.create, { name, type: "self-hosted" });
  const { token } = await cloud.admin.call(api.siteTokens.create, { siteId });
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-site-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  return { siteId, token: token!, dataDir, controlPlane: cloud.url };
}

/** Starts the process; it may not have reached its control plane yet. */
export async function startSite({
  siteId,
  token,
  dataDir,
  controlPlane,
  inboxDir,
  port = "0",
}: SiteOf): Promise<RunningSite> {
  const config = readSiteConfig({ DOWNLINK_PORT: port, DOWNLINK_DATA_DIR: dataDir, DOWNLINK_INBOX_DIR: inboxDir });
  const log = pino({ level: process.env.DOWNLINK_LOG_LEVEL ?? "silent" });
  const site = await openSite(config, { caller: { url: controlPlane, token }, log });
  const server = await serveApp(site.app, { ...config, graceSeconds: 1 }, site);
  site.begin(server.url);
  return {
    ...{ siteId, dataDir, site, url: server.url },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

/** Starts the process, and waits until links can be made to it. */
export async function startConnected(cloud: TestCloud, of: SiteOf): Promise<RunningSite> {
  const running = await startSite(of);
  const { prisma } = cloud.deps.db;
  await eventually(
    () => prisma.siteKey.count({ where: { siteId: of.siteId, savedAtNs: { not: null } } }),
    (count) => count > 0,
  );
  const isGreeted = () => prisma.siteProcess.findUnique({ where: { siteId: of.siteId } });
  await eventually(isGreeted, (row) => row?.url === running.url);
  return running;
}
