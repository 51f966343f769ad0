import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Log } from "../diagnostics/log.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { digestInventory, type InventoryDigest } from "../inventory/digest.ts";
import type { Inventory } from "../inventory/inventory.ts";
import type { ReportedState } from "../inventory/tracked-file.ts";
import type { WakeSignal } from "../loops/wake-signal.ts";
import type { Owner } from "../state/owner.ts";
import { isStateUnwritable } from "../state/state-errors.ts";
import type { StateFacts } from "../state/state-facts.ts";
import type { Clock } from "../system/clock.ts";
import { readMachineId } from "../system/machine-id.ts";
import { agentVersion } from "../system/version.ts";
import type { ReportState } from "./report-state.ts";
import type { ServerClock } from "./server-clock.ts";
import type { Hello, SessionContext, Welcome } from "./session.ts";
import type { WorkBoard } from "./work-board.ts";

export interface GreetingContext {
  readonly clock: Clock;
  readonly log: Log;
  readonly inventory: Inventory;
  readonly facts: StateFacts;
  readonly problems: ProblemBoard;
  readonly board: WorkBoard;
  readonly reportState: ReportState;
  readonly serverClock: ServerClock;
  readonly reportSignal: WakeSignal;
  readonly workSignal: WakeSignal;
}

/** Makes the hello of this process, and takes in the answer. */
export function createGreeting(
  ctx: GreetingContext,
): Pick<SessionContext, "makeHello" | "onWelcome" | "onOtherIncarnation"> {
  const { clock, log, inventory, facts, board, reportState, reportSignal, workSignal } = ctx;
  const instanceId = randomUUID();
  return {
    makeHello() {
      whileWritable(ctx, () => facts.noteInstanceId(instanceId));
      return makeHello({ clock, inventory, facts }, instanceId);
    },
    onWelcome(welcome) {
      const { device, site, lease, settings } = welcome;
      const isSetBack = lease < (facts.lastLease() ?? 0);
      if (isSetBack)
        log.warn(
          { lease },
          "the control plane does not know the last lease: it was restored, and everything is reported again",
        );
      const isInventoryKnown = welcome.isInventoryKnown && !isSetBack;
      rememberWelcome(ctx, ownerOf(welcome), welcome);
      ctx.serverClock.note(welcome.serverTime);
      board.noteSettings(settings);
      reportState.needsListing = !isInventoryKnown || facts.areEndsUnknown();
      reportState.hellos += 1;
      const listing = isInventoryKnown ? "it knows the files" : "all files are reported";
      log.info({ device: device?.name, site: site?.name, lease, listing }, "connected");
      reportSignal.notify();
      workSignal.notify();
    },
    onOtherIncarnation() {
      log.warn(
        "the control plane was restored from a backup: everything is reported again, and nothing is deleted before",
      );
      reportState.needsListing = undefined;
      reportState.hellos += 1; // The cloud may have forgotten the first batches of a listing.
    },
  };
}

/** Returns the owner of the files that the agent reports, as the cloud names it. */
export function ownerOf({ orgId, projectId, projectName, device, site }: Welcome): Owner {
  return {
    orgId,
    projectId,
    projectName,
    deviceId: device?.id,
    deviceName: device?.name,
    siteId: site?.id,
    siteName: site?.name,
  };
}

export function makeHello(
  { clock, inventory, facts }: Pick<GreetingContext, "clock" | "inventory" | "facts">,
  instanceId: string,
): Hello {
  return {
    agentVersion,
    instanceId,
    formerInstanceIds: facts.instanceIds().filter((id) => id !== instanceId),
    machineId: readMachineId(),
    host: { hostname: hostname().slice(0, 255), platform: process.platform, arch: process.arch },
    lease: facts.lastLease(),
    inventory: digestReported(inventory),
    clock: clock.nowNs(),
    takesCuts: true,
  };
}

/** Returns the digest of all files that the cloud has acknowledged and that are not removed. */
function digestReported(inventory: Inventory): InventoryDigest {
  const known: { versionId: string; state: ReportedState }[] = [];
  for (const { versionId, reportedAs: state } of inventory.files()) if (state) known.push({ versionId, state });
  for (const [versionId, { reportedAs: state }] of inventory.removals()) if (state) known.push({ versionId, state });
  return digestInventory(known);
}

/** Remembers the answer to a hello. The owner is checked before anything is written. */
function rememberWelcome(ctx: GreetingContext, owner: Owner, { lease, dataUrl }: Welcome): void {
  const { facts } = ctx;
  whileWritable(ctx, () => {
    facts.bind(owner);
    facts.noteLease(lease);
    if (dataUrl !== undefined) facts.noteDataUrl(dataUrl);
  });
}

/** Notes facts as far as the disk allows: with a full disk the agent still runs. */
function whileWritable({ problems }: GreetingContext, note: () => void): void {
  try {
    note();
  } catch (error) {
    if (!isStateUnwritable(error)) throw error;
    problems.raise("StateUnwritable", String(error));
  }
}
