import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ApiCallError, createClient } from "@downlink/client";
import { api } from "@downlink/protocol";
import { agentTransport } from "../cloud/agent-transport.ts";
import { configuredToken, createCredential } from "../cloud/credential.ts";
import { type CloudFailure, isCloudFailure, problemOf } from "../cloud/describe-failure.ts";
import { makeHello, ownerOf } from "../cloud/greeting.ts";
import { readOwnToken } from "../cloud/own-token.ts";
import type { Welcome } from "../cloud/session.ts";
import { createLog } from "../diagnostics/log.ts";
import { problemTexts } from "../diagnostics/problems.ts";
import { checkCloud } from "../doctor/check-cloud.ts";
import { ensureMarker } from "../files/root-marker.ts";
import { openWayOut } from "../network/way-out.ts";
import { InvalidSettingError } from "../settings/invalid-setting-error.ts";
import { DEFAULT_FILE, requireSetting, type Settings, writeConfigFile } from "../settings/settings.ts";
import { type AgentState, openAgentState } from "../state/agent-state.ts";
import { UNKNOWN_CARDS } from "../state/card-facts.ts";
import type { Owner } from "../state/owner.ts";
import { StateRefusedError } from "../state/state-errors.ts";
import { systemClock } from "../system/clock.ts";
import { readMachineId } from "../system/machine-id.ts";
import { checkPlaces } from "./enrolment-places.ts";
import { type EnrolmentTraces, watchTraces } from "./enrolment-traces.ts";

export interface Enrolment {
  readonly name: string;
  readonly configFile: string;
}

/** The control plane refused the agent; the message says what to do. */
export class EnrolmentRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "EnrolmentRefusedError";
  }
}

const needs = {
  url: "  --url URL            the control plane, as in https://downlink.example",
  root: "  --storage-root DIR   the directory with the recordings",
  token:
    "  --token-file FILE    holds the token of the device or site, which the control plane makes; or give it on standard input",
};

/** Throws one {@link InvalidSettingError} that names all that is missing. */
export function requireForEnrolment({ apiUrl, storageRoot }: Settings, hasToken: boolean): void {
  const missing = [
    ...(apiUrl === undefined ? [needs.url] : []),
    ...(storageRoot === undefined ? [needs.root] : []),
    ...(hasToken ? [] : [needs.token]),
  ];
  if (missing.length > 0) throw new InvalidSettingError(`to enroll, give\n${missing.join("\n")}`);
}

/** Checks everything, then writes. Where something fails, it removes what it wrote, and the error says what to do. */
export async function enroll(settings: Settings, configFile = DEFAULT_FILE): Promise<Enrolment> {
  requireForEnrolment(settings, true);
  const root = requireSetting(settings, "storageRoot");
  const { stateDir } = settings;
  const places = { configFile, stateDir, root };
  await checkPlaces(places);
  await checkControlPlane(settings);
  using traces = watchTraces(places);
  const log = createLog({ format: "text", level: "warn", out: process.stderr });
  using state = openAgentState(stateDir, { clock: systemClock, log, group: settings.stateGroup });
  const { token, welcome } = await introduce(state, settings, traces);
  const owner = ownerOf(welcome);
  refuseOtherOwner(state, owner, stateDir);
  const rootMarkerId = await ensureMarker(root);
  makeReadable(dirname(configFile));
  const apiUrl = requireSetting(settings, "apiUrl");
  const isSite = welcome.site !== undefined;
  const ownToken = { siteToken: isSite ? token : undefined, deviceToken: isSite ? undefined : token };
  const { caFile, httpProxy, httpsProxy, noProxy } = settings;
  // The service does not have this environment, and needs the same way to the control plane.
  const way = { caFile, httpProxy, httpsProxy, noProxy };
  writeConfigFile(configFile, { ...ownToken, apiUrl, storageRoot: root, stateDir, ...way });
  rebindRoot(state, { ...owner, machineId: readMachineId(), apiUrl, rootMarkerId }, settings.adoptsCards);
  state.facts.noteLease(welcome.lease); // With this lease, `run` takes over at once.
  traces.keep();
  return { name: owner.deviceName ?? `site ${owner.siteName}`, configFile };
}

/** Another card of the store is not another root: the files of the former card are away, not gone. */
function rebindRoot(
  { inventory, facts }: AgentState,
  owner: Owner & { rootMarkerId: string },
  adoptsCards: boolean,
): void {
  const { rootMarkerId: into } = owner;
  const former = facts.owner().rootMarkerId;
  const isSwapped = adoptsCards && former !== undefined && former !== into;
  if (isSwapped) inventory.swapCards({ out: former, into, atNs: systemClock.nowNs() });
  // The enrolment says which cards exist, so there are no unknown ones any more.
  const known = [...facts.cards(), ...(isSwapped ? [former] : [])].filter((card) => card !== UNKNOWN_CARDS);
  const cards = known.length > 0 ? [...new Set([...known, into])].join(" ") : undefined;
  facts.rebind({ ...owner, cards });
}

/** Checks the control plane without a change there: no hello, no lease, no new device. */
async function checkControlPlane(settings: Settings): Promise<void> {
  const token = configuredToken(settings);
  const findings = await checkCloud({ ...settings, token, dataUrl: undefined });
  const failed = findings.find(({ verdict }) => verdict === "fail");
  if (!failed) return;
  const isToken = failed.check === "Token";
  throw new EnrolmentRefusedError(
    isToken ? `the token is refused: ${withStop(failed.text)} ${TOKEN_FIX}` : `${withStop(failed.text)} ${failed.fix}`,
  );
}

const TOKEN_FIX =
  "Make a new token for this device or site in the control plane and give that; with a token that can only create devices, give the name of the new one with --device-name NAME.";

/**
 * Says the first hello with the token. A secret that the control plane may have received stays on the device, also where no answer came.
 */
async function introduce(state: AgentState, settings: Settings, traces: EnrolmentTraces) {
  const kept = readOwnToken(settings.stateDir);
  try {
    return await sayHello(state, settings);
  } catch (failure) {
    if (!isCloudFailure(failure)) throw failure;
    const begun = readOwnToken(settings.stateDir);
    const isRefused = failure instanceof ApiCallError && failure.code !== undefined && failure.status < 500;
    const isPending = begun !== undefined && kept === undefined && (begun.enrolledWith !== undefined || !isRefused);
    if (isPending) traces.keep();
    const pending = isPending
      ? ` The unfinished enrolment is kept in ${settings.stateDir}; the same command completes it.`
      : "";
    throw new EnrolmentRefusedError(`${withStop(failure.message)} ${fixOf(failure)}${pending}`);
  }
}

const ownFixes: Partial<Record<string, string>> = {
  TokenRefused: TOKEN_FIX,
  DeviceNameTaken:
    "Give another name with --device-name NAME. If that device is this one, which lost its state: make a device token for it and give that.",
  LeaseHeldElsewhere: "Stop the other agent and try again; after a crash its lease lasts for up to another minute.",
};

function fixOf(failure: CloudFailure): string {
  const problem = problemOf(failure) ?? "Refused";
  return ownFixes[problem] ?? problemTexts[problem].fix;
}

function withStop(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Says hello with the token of the device or site itself, for which an unassociated token is exchanged first. */
async function sayHello(state: AgentState, settings: Settings): Promise<{ token: string; welcome: Welcome }> {
  await using transport = agentTransport(openWayOut(settings));
  const token = await createCredential(settings, transport).obtain();
  const client = createClient({ baseUrl: requireSetting(settings, "apiUrl"), token, transport });
  const body = makeHello({ ...state, clock: systemClock }, crypto.randomUUID());
  return { token, welcome: await client.call(api.edge.hello, body) };
}

function refuseOtherOwner({ facts }: AgentState, owner: Owner, stateDir: string): void {
  const known = facts.owner();
  const knownId = known.deviceId ?? known.siteId;
  if (knownId === undefined || knownId === (owner.deviceId ?? owner.siteId)) return;
  const what = known.siteId === undefined ? `device ${known.deviceName}` : `site ${known.siteName}`;
  throw new StateRefusedError(`${stateDir} holds the state of ${what}; give another --state-dir, or remove it`);
}

/** The agent's user must be able to enter the directory, whatever the umask was. Only the owner may read the file itself. */
function makeReadable(directory: string): void {
  const made = mkdirSync(directory, { recursive: true });
  for (let at = directory; made !== undefined && at.length >= made.length; at = dirname(at)) chmodSync(at, 0o755);
}
