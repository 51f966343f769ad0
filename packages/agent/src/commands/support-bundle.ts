import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { knownToken } from "../cloud/credential.ts";
import { maskTokens } from "../diagnostics/log.ts";
import { loadSettings, resolveSettings, type SettingSources } from "../settings/settings.ts";
import { collectDatabase, collectLog, collectSystem } from "../support/collect-facts.ts";
import { makeTar } from "../support/tar.ts";
import { listSettings } from "./config.ts";
import { examineSetup } from "./doctor.ts";
import { readStatus } from "./status.ts";

/** Collects what helps to find a fault, without secrets and without recordings. Returns where the bundle is. */
export async function writeSupportBundle(sources: SettingSources, out: string | undefined): Promise<string> {
  const settings = loadSettings(sources);
  const documents = {
    "system.json": collectSystem(),
    "config.json": listSettings(sources),
    "status.json": await readStatus(settings).catch(({ message }: Error) => ({ error: message })),
    "doctor.json": await examineSetup(settings),
    "database.json": collectDatabase(settings),
  };
  const conceal = concealer(sources, knownToken(settings));
  const texts = Object.entries(documents).map(([name, document]) => [name, JSON.stringify(document, null, 2)] as const);
  const entries = [...texts, ["journal.log", await collectLog()] as const].map(([name, text]) => ({
    name: `downlink-support/${name}`,
    text: conceal(text),
  }));
  const now = new Date();
  const path = resolve(
    out ?? `downlink-support-${hostname()}-${now.toISOString().slice(0, 19).replaceAll(":", "")}.tar.gz`,
  );
  writeFileSync(path, gzipSync(makeTar(entries, now.getTime())), { mode: 0o600 });
  return path;
}

/** Takes every secret of the settings and the agent's own token out of a text, and whatever looks like a token. */
function concealer(sources: SettingSources, ownToken: string | undefined): (text: string) => string {
  const configured = resolveSettings(sources).flatMap((resolved) => resolved.secrets);
  const secrets = ownToken ? [...configured, ownToken] : configured;
  return (text) => secrets.reduce((concealed, secret) => concealed.replaceAll(secret, "…"), maskTokens(text));
}
