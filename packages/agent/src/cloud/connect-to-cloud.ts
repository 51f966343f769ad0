import { createClient } from "@downlink/client";
import type { AgentParts } from "../daemon/assemble-agent.ts";
import { createBell } from "../loops/bell.ts";
import type { ReportState } from "../report/report-loop.ts";
import { requireSetting } from "../settings/settings.ts";
import { rememberCloudSettings } from "../state/cloud-settings.ts";
import { type ClockSkew, createClockSkew } from "./clock-skew.ts";
import { createCredential, withCredential } from "./credential.ts";
import { createGreeting } from "./greeting.ts";
import type { RetentionHold } from "./retention-hold.ts";
import type { ServerClock } from "./server-clock.ts";
import { watchServerDate } from "./server-date.ts";
import { type CloudSession, createSession } from "./session.ts";
import { createWorkBoard, type WorkBoard } from "./work-board.ts";

/** By which the loops wake each other. */
export function createBells() {
  return {
    scanBell: createBell(),
    youngBell: createBell(),
    putOffBell: createBell(),
    reportBell: createBell(),
    workBell: createBell(),
    salvageBell: createBell(),
    deleteBell: createBell(),
    wishBell: createBell(),
  };
}

interface CloudSide {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly reportState: ReportState;
  readonly skew: ClockSkew;
}

/** The session, and what is known of what the cloud wants and has been told. */
export function connectToCloud(
  { settings, clock, log, state, transport }: AgentParts,
  bells: ReturnType<typeof createBells>,
  { serverClock, hold }: { serverClock: ServerClock; hold: RetentionHold },
): CloudSide {
  const baseUrl = requireSetting(settings, "apiUrl");
  const credential = createCredential(settings, transport);
  const skew = createClockSkew({ clock, ...state });
  const watched = watchServerDate(transport, { clock, skew });
  const client = withCredential(createClient({ baseUrl, transport: watched }), credential);
  const board = createWorkBoard((cloudSettings) => {
    rememberCloudSettings(state, cloudSettings);
    hold.observe(cloudSettings.retainRecordingsSeconds);
    bells.reportBell.ring(); // The globs of auto-import are among them.
  });
  const reportState: ReportState = { needsListing: undefined, hellos: 0, sequence: 0 };
  const greeting = createGreeting({ ...state, ...bells, clock, log, board, reportState, serverClock });
  const { obtain: prepare } = credential;
  const session = createSession({ client, clock, problems: state.problems, prepare, ...greeting });
  return { session, board, reportState, skew };
}
