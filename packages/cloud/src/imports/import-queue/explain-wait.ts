import { type AgentStatus, type EdgeAgent, formatTimestamp, type QueuedImport } from "@downlink/protocol";

type WaitsFor = NonNullable<QueuedImport["waitsFor"]>;

/** The facts that decide whether one requested file is being sent. */
export interface Situation {
  /** Absent if no agent has the file any more. */
  readonly agent: EdgeAgent | undefined;
  /** Whether the file's device is enabled; at an edge site one device may be disabled while its site's agent works. */
  readonly isDeviceEnabled: boolean;
  readonly isUploading: boolean;
  /** The place among the requests that its agent works on; absent if it is none of them. */
  readonly position: number | undefined;
}

/**
 * Returns the first reason that applies; undefined if the file is being sent. Reasons that stop everything come before those that stop one
 * file.
 */
export function explainWait(situation: Situation): WaitsFor | undefined {
  const { agent, isUploading } = situation;
  const reason = explainStandstill(situation);
  if (reason || isUploading) return reason;
  return explainUploadFailure(agent?.status) ?? explainPosition(situation);
}

function explainStandstill({ agent, isDeviceEnabled }: Situation): WaitsFor | undefined {
  if (agent?.cloned)
    return {
      code: "AgentCloned",
      text: "Two agents work with copies of one state, and none of them is served.",
      fix: "Stop one and give it a token and a state directory of its own; then release the agent of the device.",
    };
  if (!isDeviceEnabled) return { code: "DeviceDisabled", text: "The device is disabled.", fix: "Enable the device." };
  if (!agent?.online) return offline(agent);
  const missing = problemOf(agent.status, "StorageMissing");
  if (missing) return { code: "StorageMissing", text: missing.text, fix: missing.fix };
  const { throttle } = agent.status ?? {};
  if (!throttle) return undefined;
  const text = `Uploads are held back on the device: ${throttle.reason}.`;
  const fix = "Change the upload rate of the device, or run `agent resume` on it.";
  return { code: "UploadsHeldBack", text, fix, until: throttle.until };
}

function offline(agent: EdgeAgent | undefined): WaitsFor {
  const since = agent ? ` since ${formatTimestamp(agent.lastSeenAt)}` : "";
  const text = `The agent that has the file has not been heard of${since}.`;
  return { code: "DeviceOffline", text, fix: "Power the device on, or check its network, and `agent status` on it." };
}

function explainUploadFailure(status: AgentStatus | undefined): WaitsFor | undefined {
  const full = problemOf(status, "CloudStorageFull");
  if (full) return { code: "StorageFull", text: full.text, fix: "Free or add storage at the control plane." };
  const over = problemOf(status, "CloudQuotaReached");
  if (over) return { code: "StorageFull", text: over.text, fix: over.fix };
  const failing = problemOf(status, "UploadFailing");
  return failing && { code: "UploadFailing", text: failing.text, fix: failing.fix };
}

function explainPosition({ position = 1 }: Situation): WaitsFor {
  if (position > 1) return { code: "BehindOthers", text: `${position - 1} other files of the same agent come first.` };
  return { code: "AgentToStart", text: "The agent takes it up as soon as it can." };
}

function problemOf(status: AgentStatus | undefined, code: string) {
  return status?.problems.find((problem) => problem.code === code);
}
