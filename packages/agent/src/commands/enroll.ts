import { accessSync, constants, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { type AgentState, openAgentState } from "../agent-state.ts";
import { systemClock } from "../clock.ts";
import { configuredToken, createCredential } from "../cloud/credential.ts";
import { makeHello, ownerOf } from "../cloud/greeting.ts";
import type { Welcome } from "../cloud/session.ts";
import { ensureMarker } from "../files/root-marker.ts";
import type { Owner } from "../inventory/owner.ts";
import { createLog } from "../log.ts";
import { readMachineId } from "../machine-id.ts";
import { openWayOut } from "../network/way-out.ts";
import { InvalidSetting } from "../settings/invalid-setting.ts";
import { DEFAULT_FILE, requireSetting, type Settings, writeConfigFile } from "../settings/settings.ts";
import { StateRefused } from "../state-errors.ts";

export interface Enrolment {
  /** Of the device or the site. */
  readonly name: string;
  readonly configFile: string;
  readonly nextCommand: string;
}

/** Everything that can be checked is checked before anything is written. Fails with what to do about it. */
export async function enroll(settings: Settings, configFile = DEFAULT_FILE): Promise<Enrolment> {
  configuredToken(settings);
  const apiUrl = requireSetting(settings, "apiUrl");
  const root = requireSetting(settings, "storageRoot");
  checkRoot(root);
  const log = createLog({ format: "text", level: "warn", out: process.stderr });
  using state = openAgentState(settings.stateDir, { clock: systemClock, log });
  const { token, welcome } = await sayHello(state, settings);
  const owner = ownerOf(welcome);
  refuseOtherOwner(state, owner, settings.stateDir);
  const rootMarkerId = await ensureMarker(root);
  state.facts.rebind({ ...owner, machineId: readMachineId(), apiUrl, rootMarkerId });
  state.facts.noteLease(welcome.lease); // With it, `run` takes over at once.
  mkdirSync(dirname(configFile), { recursive: true });
  const ownToken = welcome.site ? { siteToken: token } : { deviceToken: token };
  const { stateDir, caFile, httpProxy, httpsProxy, noProxy } = settings;
  // The way that led here must lead the service too, which does not have this environment.
  const way = { caFile, httpProxy, httpsProxy, noProxy };
  writeConfigFile(configFile, { ...ownToken, apiUrl, storageRoot: root, stateDir, ...way });
  const nextCommand = configFile === DEFAULT_FILE ? "agent run" : `agent --config ${configFile} run`;
  return { name: owner.deviceName ?? `site ${owner.siteName}`, configFile, nextCommand };
}

function checkRoot(root: string): void {
  try {
    if (!statSync(root).isDirectory()) throw new InvalidSetting(`the storage root ${root} is not a directory`);
    readdirSync(root);
    accessSync(root, constants.W_OK);
  } catch (error) {
    if (error instanceof InvalidSetting) throw error;
    throw new InvalidSetting(`the storage root ${root} cannot be used: ${(error as Error).message}`);
  }
}

/** With the token of the device or site itself, which an unassociated one is exchanged for. */
async function sayHello(state: AgentState, settings: Settings): Promise<{ token: string; welcome: Welcome }> {
  await using transport = undiciTransport(openWayOut(settings));
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
  throw new StateRefused(`${stateDir} holds the state of ${what}; give another --state-dir, or remove it`);
}
