import { createClient } from "@downlink/client";
import type { UndiciTransport } from "@downlink/client/node";
import type { AgentSettings } from "@downlink/protocol";
import type { Tracing } from "@downlink/tracing";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import { requireSetting, type Settings } from "../settings/settings.ts";
import type { AgentState } from "../state/agent-state.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";
import { type ClockSkew, createClockSkew, watchServerDate } from "./clock-skew.ts";
import { createCredential, withCredential } from "./credential.ts";
import { createGreeting } from "./greeting.ts";
import type { ReportState } from "./report-state.ts";
import type { RetentionHold } from "./retention-hold.ts";
import type { ServerClock } from "./server-clock.ts";
import { type CloudSession, createSession } from "./session.ts";
import { traceCalls } from "./trace-calls.ts";
import { createWorkBoard, type WorkBoard } from "./work-board.ts";

interface CloudParts {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly state: AgentState;
  readonly transport: UndiciTransport;
  readonly tracing: Tracing;
}

export interface CloudSide {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly reportState: ReportState;
  readonly skew: ClockSkew;
}

/** Makes the session, and what remembers which files the cloud wants and knows. */
export function connectToCloud(
  { settings, clock, log, state, transport, tracing }: CloudParts,
  wakeSignals: { readonly reportSignal: WakeSignal; readonly workSignal: WakeSignal },
  { serverClock, hold }: { serverClock: ServerClock; hold: RetentionHold },
): CloudSide {
  const baseUrl = requireSetting(settings, "apiUrl");
  const credential = createCredential(settings, transport);
  const skew = createClockSkew({ clock, ...state });
  const watched = watchServerDate(transport, { clock, skew });
  const client = withCredential(createClient({ baseUrl, transport: traceCalls(watched, tracing) }), credential);
  const board = createWorkBoard((cloudSettings) => {
    rememberCloudSettings(state, cloudSettings);
    hold.observe(cloudSettings.retainRecordingsSeconds);
    wakeSignals.reportSignal.notify(); // The globs of auto-import are among them.
  });
  const reportState: ReportState = { needsListing: undefined, isListingOpen: false, hellos: 0, sequence: 0 };
  const greeting = createGreeting({ ...state, ...wakeSignals, clock, log, board, reportState, serverClock });
  const { obtain: prepare } = credential;
  const session = createSession({ client, clock, problems: state.problems, prepare, ...greeting });
  return { session, board, reportState, skew };
}

/** Keeps the control plane's settings to show them. With a full disk the agent still runs. */
function rememberCloudSettings(
  { facts, problems }: { facts: StateFacts; problems: ProblemBoard },
  settings: AgentSettings,
): void {
  try {
    facts.noteCloudSettings(settings);
  } catch (error) {
    if (!isStateUnwritable(error)) throw error;
    problems.raise("StateUnwritable", String(error));
  }
}
