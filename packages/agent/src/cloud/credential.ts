import { createHash } from "node:crypto";
import { ApiCallError, type CallOptions, type Client, createClient } from "@downlink/client";
import type { UndiciTransport } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import { keepOwnToken, makeOwnToken, type OwnToken, readOwnToken } from "./own-token.ts";

/** The token with which the agent calls the cloud. */
export interface Credential {
  /** Returns the token; enrols first where the settings hold one that can only create a device. Fails as the client does. */
  obtain(signal?: AbortSignal): Promise<string>;
}

/** Throws {@link InvalidSettingError} where there is no token, or more than one. */
export function createCredential(settings: Settings, transport: UndiciTransport): Credential {
  const token = configuredToken(settings);
  const { deviceName, siteToken } = settings;
  if (deviceName === undefined || siteToken !== undefined) return { obtain: async () => token };
  const client = createClient({ baseUrl: requireSetting(settings, "apiUrl"), token, transport });
  let obtained: string | undefined;
  return {
    async obtain(signal) {
      obtained ??= await enroll(client, { token, deviceName, stateDir: settings.stateDir, signal });
      return obtained;
    },
  };
}

export function configuredToken(settings: Settings): string {
  const { deviceToken, siteToken } = settings;
  if (deviceToken !== undefined && siteToken !== undefined)
    throw new InvalidSettingError(
      "DOWNLINK_DEVICE_TOKEN and DOWNLINK_SITE_TOKEN are both set; an agent works with one of them",
    );
  return siteToken ?? requireSetting(settings, "deviceToken");
}

/** Returns the token of the agent, as far as it is known without a call; undefined where there is none. */
export function knownToken({ deviceName, deviceToken, siteToken, stateDir }: Settings): string | undefined {
  const own = deviceName === undefined ? undefined : keptFor(deviceName, stateDir);
  return siteToken ?? (own?.enrolledWith === undefined ? deviceToken : own.token);
}

/** Returns a client that uses the credential's token. The session awaits `obtain` before its first hello. */
export function withCredential(client: Client, credential: Credential): Client {
  const authorized = async (options: CallOptions = {}) => {
    const authorization = `Bearer ${await credential.obtain(options.signal)}`;
    return { ...options, headers: { authorization, ...options.headers } };
  };
  return {
    call: async (operation, input, options) => client.call(operation, input, await authorized(options)),
    callWithHeaders: async (operation, input, options) =>
      client.callWithHeaders(operation, input, await authorized(options)),
  };
}

interface Enrolling {
  readonly token: string;
  readonly deviceName: string;
  readonly stateDir: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * The agent keeps its own secret before it sends its SHA-256. It never sends the secret itself, so that no log can hold it. Repeated
 * after a crash, the exchange returns the same device.
 */
async function enroll(client: Client, { token, deviceName, stateDir, signal }: Enrolling): Promise<string> {
  const enrolledWith = sha256(token);
  const kept = keptFor(deviceName, stateDir);
  if (kept?.enrolledWith === enrolledWith) return kept.token;
  const own = kept ?? makeOwnToken(deviceName);
  if (!kept) keepOwnToken(stateDir, own);
  const { enrolmentId } = own;
  try {
    await client.call(api.edge.enroll, { enrolmentId, tokenSha256: sha256(own.token), deviceName }, { signal });
  } catch (failure) {
    if (!(failure instanceof ApiCallError)) throw failure;
    if (failure.code === "WrongCredentialKind") return token; // It is a device's own token, or no token at all: the hello will show.
    if (!kept || failure.code !== "Conflict") throw failure; // Otherwise this device was enrolled with another token before.
  }
  keepOwnToken(stateDir, { ...own, enrolledWith });
  return own.token;
}

function keptFor(deviceName: string, stateDir: string): OwnToken | undefined {
  const kept = readOwnToken(stateDir);
  return kept?.deviceName === deviceName ? kept : undefined;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
