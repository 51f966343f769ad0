import { ApiCallError, createClient, type Transport } from "@downlink/client";
import { proxyFor, type WayOut } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { formatDuration } from "@downlink/terminal/amounts";
import { agentTransport } from "../cloud/agent-transport.ts";
import { isCloudFailure, problemOf } from "../cloud/describe-failure.ts";
import { problemTexts } from "../diagnostics/problems.ts";
import { openWayOut, type WaySettings } from "../network/way-out.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import type { Settings } from "../settings/settings.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const TIMEOUT_MS = 10_000;
/** With a larger difference, timestamps of messages and of the control plane do not fit together. */
const MAX_SKEW_MS = 5000;

export interface CloudAccess extends Partial<WaySettings> {
  readonly apiUrl: Settings["apiUrl"];
  readonly token: string | undefined;
  /** The name of the device that a token without a device would create. */
  readonly deviceName?: string | undefined;
  /** The URL for bytes, as the control plane gave it last. */
  readonly dataUrl: string | undefined;
}

/** Makes no call that would disturb a running agent: no hello, and nothing that needs a lease. */
export async function checkCloud({ apiUrl, token, deviceName, dataUrl, ...given }: CloudAccess): Promise<Finding[]> {
  if (apiUrl === undefined)
    return [
      fail(
        "Control plane",
        "DOWNLINK_API_URL is not set",
        "Run `agent enroll --url URL --storage-root DIR --token-file FILE`.",
      ),
    ];
  const { way, findings } = checkWayOut(apiUrl, {
    httpProxy: undefined,
    httpsProxy: undefined,
    noProxy: undefined,
    caFile: undefined,
    ...given,
  });
  if (!way) return findings;
  await using transport = agentTransport(way);
  const reached = await checkUrl(transport, { check: "Control plane", url: `${apiUrl}/livez` });
  if (reached.some(({ verdict }) => verdict === "fail")) return [...findings, ...reached];
  return [
    ...findings,
    ...(apiUrl.startsWith("http:") ? [checkPlain(apiUrl)] : []),
    ...reached,
    await checkToken(transport, { apiUrl, token, deviceName }),
    ...(await checkDataUrl(transport, { apiUrl, dataUrl })),
  ];
}

/** Returns no way where the agent would not start with these settings. */
function checkWayOut(apiUrl: string, settings: WaySettings): { way?: WayOut; findings: Finding[] } {
  try {
    const way = openWayOut(settings);
    const count = way.extraRoots?.length ?? 0;
    const roots =
      count === 0
        ? []
        : [
            ok(
              "CA file",
              `${settings.caFile}: ${count} ${count === 1 ? "authority" : "authorities"} trusted besides the usual ones`,
            ),
          ];
    const proxy = proxyFor(apiUrl, settings);
    return { way, findings: [...roots, ...(proxy ? [ok("Proxy", `calls go through ${new URL(proxy).origin}`)] : [])] };
  } catch (error) {
    if (!(error instanceof InvalidSettingError)) throw error;
    return { findings: [fail("CA file", error.message, CA_FILE_FIX)] };
  }
}

const CA_FILE_FIX =
  "Put the authority's certificates there in PEM, readable by the agent's user, or remove the setting.";

function checkPlain(apiUrl: string): Finding {
  const { hostname } = new URL(apiUrl);
  if (["localhost", "127.0.0.1", "[::1]"].includes(hostname)) return ok("TLS", "not needed on this machine");
  return warn("TLS", "the token and all data travel unencrypted", "Use an https:// URL in DOWNLINK_API_URL.");
}

async function checkUrl(transport: Transport, { check, url }: { check: string; url: string }): Promise<Finding[]> {
  const sentMs = Date.now();
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { status, headers, body } = await transport({ method: "GET", url, headers: {}, signal });
    if (status !== 200 || !body.includes("live"))
      return [fail(check, `${url} answers ${status}, but not as a control plane`, problemTexts.ForeignAnswer.fix)];
    const tookMs = Date.now() - sentMs;
    return [ok(check, `${url} answers in ${tookMs} ms`), ...checkClock(headers.get("date"), sentMs + tookMs / 2)];
  } catch (error) {
    return [unreachable(check, error)];
  }
}

function unreachable(check: string, error: unknown): Finding {
  const text = error instanceof Error && error.name === "TimeoutError" ? "no answer in time" : (error as Error).message;
  const problem = problemOf(error) ?? "CloudUnreachable";
  return fail(problem === "TlsFailed" ? "TLS" : check, text, problemTexts[problem].fix);
}

/** The header `Date` holds whole seconds. */
function checkClock(date: string | undefined, localMs: number): Finding[] {
  const skewMs = date === undefined ? Number.NaN : Date.parse(date) + 500 - localMs;
  if (Number.isNaN(skewMs)) return [];
  if (Math.abs(skewMs) <= MAX_SKEW_MS) return [ok("Clock", "agrees with the control plane")];
  const text = `${formatDuration(Math.abs(skewMs) / 1000)} ${skewMs > 0 ? "behind" : "ahead of"} the control plane`;
  return [warn("Clock", text, "Set it with NTP or PTP (timedatectl set-ntp true). Nothing is deleted because of it.")];
}

/** A call without a lease changes nothing, and the answer that the lease is missing proves that the token is accepted. */
async function checkToken(
  transport: Transport,
  { apiUrl, token, deviceName }: { apiUrl: string } & Pick<CloudAccess, "token" | "deviceName">,
): Promise<Finding> {
  const check = "Token";
  if (token === undefined) return fail(check, "none is set", "Run `agent enroll --token-file FILE`.");
  const client = createClient({ baseUrl: apiUrl, token, transport });
  try {
    await client.call(api.edge.status, { files: {}, problems: [] }, { timeoutMs: TIMEOUT_MS });
    return ok(check, "the control plane accepts it");
  } catch (error) {
    if (error instanceof ApiCallError && error.code === "LeaseLost") return ok(check, "the control plane accepts it");
    if (error instanceof ApiCallError && error.code === "DeviceTokenUnassociated" && deviceName !== undefined)
      return ok(check, `it can create the device "${deviceName}" at the first contact`);
    if (error instanceof ApiCallError && error.status < 500)
      return fail(check, error.message, problemTexts.TokenRefused.fix);
    if (!isCloudFailure(error)) throw error;
    return warn(check, `not known: ${error.message}`, problemTexts.CloudBusy.cause);
  }
}

async function checkDataUrl(
  transport: Transport,
  { apiUrl, dataUrl }: { apiUrl: string; dataUrl: string | undefined },
): Promise<Finding[]> {
  const check = "Uploads";
  if (dataUrl === undefined || dataUrl === apiUrl) return [];
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    await transport({ method: "GET", url: dataUrl, headers: {}, signal });
    return [ok(check, `${dataUrl}, which receives the uploads, answers`)];
  } catch (error) {
    const fix = "Allow connections to it from this device, or correct the control plane's DOWNLINK_PUBLIC_URL.";
    return [fail(check, `${dataUrl}, which receives the uploads, cannot be reached: ${(error as Error).message}`, fix)];
  }
}
