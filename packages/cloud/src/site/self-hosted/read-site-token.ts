import { readFile } from "node:fs/promises";
import { ConfigError } from "../../core/config-error.ts";

interface Given {
  readonly siteTokenFile?: string;
  readonly siteToken?: string;
  readonly fromEnvironment: string | undefined;
}

/** Returns the site's token from the one place that has it. Throws a ConfigError if there is none, or more than one. */
export async function readSiteToken({ siteTokenFile, siteToken, fromEnvironment }: Given): Promise<string> {
  const places = [siteTokenFile, siteToken, fromEnvironment].filter((place) => place !== undefined);
  if (places.length !== 1)
    throw new ConfigError([
      "DOWNLINK_SITE_TOKEN: give the site's token here or by --site-token-file, and only once (POST /v1/site-tokens makes one)",
    ]);
  const token = siteTokenFile === undefined ? (siteToken ?? fromEnvironment!) : await readTokenFile(siteTokenFile);
  if (/^\S+$/.test(token)) return token;
  throw new ConfigError(["DOWNLINK_SITE_TOKEN: is no token"]);
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return (await readFile(path, "utf8")).trim();
  } catch (error) {
    throw new ConfigError([`--site-token-file: ${(error as Error).message}`]);
  }
}
