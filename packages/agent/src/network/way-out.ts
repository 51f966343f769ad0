import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { proxyFor, type WayOut } from "@downlink/client/node";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { type Settings, settingKey } from "../settings/settings.ts";

type ProxySettings = Pick<Settings, "httpProxy" | "httpsProxy" | "noProxy">;
export type WaySettings = ProxySettings & Pick<Settings, "caFile">;

/** Opens proxies and private authorities for every call of the agent. Throws {@link InvalidSettingError} for an unusable file. */
export function openWayOut({ httpProxy, httpsProxy, noProxy, caFile }: WaySettings): WayOut {
  const extraRoots = caFile === undefined ? [] : readCertificates(caFile);
  return { proxies: { httpProxy, httpsProxy, noProxy }, extraRoots };
}

/** Returns the host to which packets for a URL go first: its proxy, or the URL's own host. */
export function firstHop(url: string, proxies: ProxySettings): string {
  return proxyFor(url, proxies) ?? url;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** Reads all certificates of the file, each as PEM. Text around them is for people. */
function readCertificates(path: string): readonly string[] {
  const found = readText(path).match(CERTIFICATE) ?? [];
  if (found.length === 0) throw new InvalidSettingError(`${settingKey("caFile")}: ${path} holds no certificate in PEM`);
  for (const [index, pem] of found.entries()) checkCertificate(pem, `${path} is broken at certificate ${index + 1}`);
  return found;
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new InvalidSettingError(
      `${settingKey("caFile")}: cannot read ${path}: ${code}; put the certificates there, or remove the setting`,
    );
  }
}

function checkCertificate(pem: string, complaint: string): void {
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw new InvalidSettingError(`${settingKey("caFile")}: ${complaint}: ${(error as Error).message}`);
  }
}
