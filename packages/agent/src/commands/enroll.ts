import { accessSync, constants, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { api } from "@downlink/protocol";
import { type AgentState, openAgentState } from "../agent-state.ts";
import { systemClock } from "../clock.ts";
import { makeHello } from "../cloud/greeting.ts";
import { ensureMarker } from "../files/root-marker.ts";
import { createLog } from "../log.ts";
import { readMachineId } from "../machine-id.ts";
import { InvalidSetting } from "../settings/invalid-setting.ts";
import { DEFAULT_FILE, requireSetting, type Settings, writeConfigFile } from "../settings/settings.ts";
import { StateRefused } from "../state-errors.ts";

export interface Enrolment {
  readonly deviceName: string;
  readonly configFile: string;
  readonly nextCommand: string;
}

/** Everything that can be checked is checked before anything is written. Fails with what to do about it. */
export async function enroll(settings: Settings, configFile = DEFAULT_FILE): Promise<Enrolment> {
  const token = requireSetting(settings, "deviceToken");
  const apiUrl = requireSetting(settings, "apiUrl");
  const root = requireSetting(settings, "storageRoot");
  checkRoot(root);
  const log = createLog({ format: "text", level: "warn", out: process.stderr });
  using state = openAgentState(settings.stateDir, { clock: systemClock, log });
  const { device, orgId, projectId, lease } = await sayHello(state, { token, apiUrl });
  refuseOtherDevice(state, { deviceId: device.id, stateDir: settings.stateDir });
  const rootMarkerId = await ensureMarker(root);
  const owner = { machineId: readMachineId(), apiUrl, orgId, projectId, deviceId: device.id, deviceName: device.name };
  state.facts.rebind({ ...owner, rootMarkerId });
  state.facts.noteLease(lease); // With it, `run` takes over at once.
  mkdirSync(dirname(configFile), { recursive: true });
  writeConfigFile(configFile, { deviceToken: token, apiUrl, storageRoot: root, stateDir: settings.stateDir });
  const nextCommand = configFile === DEFAULT_FILE ? "agent run" : `agent --config ${configFile} run`;
  return { deviceName: device.name, configFile, nextCommand };
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

async function sayHello(state: AgentState, { token, apiUrl }: { token: string; apiUrl: string }) {
  await using transport = undiciTransport();
  const client = createClient({ baseUrl: apiUrl, token, transport });
  return await client.call(api.edge.hello, makeHello({ ...state, clock: systemClock }, crypto.randomUUID()));
}

function refuseOtherDevice(
  { facts }: AgentState,
  { deviceId, stateDir }: { deviceId: string; stateDir: string },
): void {
  const known = facts.owner();
  if (known.deviceId === undefined || known.deviceId === deviceId) return;
  throw new StateRefused(
    `${stateDir} holds the state of device ${known.deviceName ?? known.deviceId}; give another --state-dir, or remove it`,
  );
}
