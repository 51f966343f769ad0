import { maySalvage, recordingExtensions, summaryRefusals } from "@downlink/recordings";
import { formatBytes, formatDuration } from "@downlink/terminal/amounts";
import { provedOver } from "../cloud/describe-failure.ts";
import { problemTexts } from "../diagnostics/problems.ts";
import { repairTools } from "../diagnostics/recording-tools.ts";
import { PARTLY_LISTED_CODE, SET_ASIDE_CODE } from "../indexing/reason-codes.ts";
import type { FileState } from "../inventory/file-state.ts";
import type { ImportOutcome } from "../inventory/tracked-file.ts";
import type { StatusDocument } from "../status/status-schema.ts";
import type { Explanation } from "./explanation.ts";

/** The facts that the agent knows about a file that it keeps. */
export interface FileFacts {
  readonly path: string;
  readonly state: FileState;
  readonly reason: string | null;
  readonly reasonCode: string | null;
  /** How its last import ended, while that holds. */
  readonly outcome: ImportOutcome | null;
  /** A user on the device requested its import, and the control plane has not received that. */
  readonly isRequestedHere: boolean;
  /** Where the file is while its state is `away`. */
  readonly away: AwayFacts | null;
  readonly isAutoImported: boolean;
  readonly settleTimeMs: number;
  readonly incompleteAfterMs: number;
  /** The status, which says "not running" where no agent answers. */
  readonly status: StatusDocument;
  readonly nowMs: number;
}

export interface AwayFacts {
  /** The short name of the card. */
  readonly card: string;
  readonly since: string;
  /** The state beneath `away`. */
  readonly before: FileState;
}

type Description = Omit<Explanation, "path" | "state">;
type Describer = (facts: FileFacts) => Partial<Description> & Pick<Description, "why" | "next">;

const START_IT = "Start the agent: `agent run`, or `systemctl start downlink-agent`.";
const ASK_FOR_IT = "Ask for its import with `agent import FILE`, or in the control plane.";
/** The bytes are in the control plane, and sending them again changes nothing. */
const SALVAGE_IT =
  "Get what is readable: salvage its failed import in the control plane (page Imports, or POST /v1/data/pending-imports/ID/salvage).";
/** This text is only for files that were never imported: a match does not bring back data that was deleted. */
const ASK_FOR_SUCH =
  "Ask for its import with `agent import FILE`, in the control plane, or have DOWNLINK_AUTO_IMPORT match such files, to import them without a request.";

const describers: Readonly<Record<FileState, Describer>> = {
  seen: ({ settleTimeMs }) => ({
    why: "A scan has found it; it was not examined yet.",
    next: `It is examined once it has not changed for ${formatDuration(settleTimeMs / 1000)}.`,
  }),
  settling: ({ reason, incompleteAfterMs }) => ({
    why: reason ?? "It has no end yet: it is being written, or was cut off.",
    next: `It is examined again whenever it changes; if it does not change for ${formatDuration(incompleteAfterMs / 1000)}, it counts as incomplete.`,
    todo: "Nothing while it is being recorded; otherwise close it with the tool that wrote it.",
  }),
  unreadable: ({ reason, reasonCode }) => ({
    why: reason ?? "It cannot be read.",
    next:
      reasonCode === SET_ASIDE_CODE
        ? "It is tried again a day after the last time, and when it changes."
        : "It is tried again, after longer and longer pauses.",
    todo: (reasonCode === SET_ASIDE_CODE ? problemTexts.FileSetAside : problemTexts.FileUnreadable).fix,
  }),
  incomplete: ({ reason }) => ({
    why: reason ?? "It has no end, and did not change for a long time.",
    next: "It is listed with the reason. If its end is written later, it is examined again.",
    todo: `Salvage what is readable in the control plane, or repair it (${repairTools}).`,
  }),
  damaged: ({ reason, reasonCode }) => ({
    why: reason ?? "It cannot be read as a recording.",
    next: "It is listed with the reason. Nothing more happens until it changes.",
    todo:
      reasonCode === "CompressedFile"
        ? `Decompress it with that command: what comes out is examined as a new file, if its name ends in ${recordingExtensions.join(" or ")}.`
        : `Salvage what is readable in the control plane, or repair it (${repairTools}): what is there then is examined as a new file.`,
  }),
  empty: ({ reason }) => ({
    why: reason ?? "It is a valid recording without a single message.",
    next: "It is listed as empty; there is nothing to import.",
  }),
  indexed: () => ({
    why: "It is finished, and was not reported to the control plane yet.",
    next: "It is reported within seconds.",
  }),
  reported: describeReported,
  unassigned: ({ reason }) => ({
    why: `The control plane does not know its device: ${reason ?? "it names no device"}.`,
    next: "The control plane is asked again every ten minutes, and after each start.",
    todo: "Create the device that the file names, have the recorder write a `downlink` metadata record, set DOWNLINK_SITE_DEVICE_FROM_PATH=true, or give the site its project in the control plane.",
  }),
  requested: describeRequested,
  uploading: describeUploading,
  stored: () => ({
    why: "Every byte is in the control plane, which processes it.",
    next: "It is imported, or fails with a reason, without this device.",
  }),
  imported: () => ({ why: "It is in the control plane.", next: "There is nothing more to do." }),
  failed: ({ outcome }) => ({
    why: outcome
      ? `Its import was asked for and failed: ${sentence(outcome.text)} (${outcome.code})`
      : "Its import was asked for, and the control plane could not import it.",
    next: "Nothing until somebody requests it again.",
    todo: adviseFailed(outcome),
  }),
  duplicate: ({ outcome }) => ({
    why: `Its content is in the control plane already, and was not stored twice: ${sentence(outcome?.text ?? "another recording has it")}`,
    next: "Nothing is sent. It counts as imported: a device that deletes imported files deletes it.",
  }),
  deleting: () => ({
    why: "A rule allows its deletion: auto-delete after import, retention, or the disk quota.",
    next: "It is deleted once the control plane permits it; it stays if anything about it changes.",
    todo: "To keep it, ask for its import, or change the rule.",
  }),
  away: describeAway,
  gone: () => ({ why: "It is not there any more.", next: "This is reported to the control plane." }),
};

/** Advice for a reason that does not say itself what a person can do. */
const remedies: Readonly<Record<string, string>> = {
  FileUnreadable: problemTexts.FileUnreadable.fix,
  KeyTaken: "Delete the recording that has its key, or have the recorder write another key.",
  EdgeCopyGone: "It was gone and is back.",
};

/** The same bytes would be refused again. */
const refusedAlways: ReadonlySet<string> = new Set(summaryRefusals);

function adviseFailed(outcome: ImportOutcome | null): string {
  if (outcome && refusedAlways.has(outcome.code))
    return "Record within that limit: the control plane refuses these bytes each time.";
  if (outcome && maySalvage(outcome.code)) return SALVAGE_IT;
  return `${remedyFor(outcome)} Then ask for it again: \`agent retry FILE\`, or in the control plane.`;
}

function remedyFor(outcome: ImportOutcome | null): string {
  if (!outcome) return "Look at its recording in the control plane for the reason.";
  return remedies[outcome.code] ?? "Correct the cause.";
}

function sentence(text: string): string {
  const whole = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** Only the control plane knows whether these states still hold. */
const saidByCloud: ReadonlySet<FileState> = new Set(["reported", "stored", "imported", "failed", "duplicate"]);

/** Says that the state is the last one that the control plane stated: it may have changed while the agent is not connected. */
function asOf({ state, away, status }: FileFacts): string {
  if (!saidByCloud.has(away?.before ?? state) || status.connection.state === "connected") return "";
  const { lastContactAt } = status.connection;
  return ` That is what the control plane said last${lastContactAt === null ? "" : `, at ${lastContactAt}`}.`;
}

const requestableHere: ReadonlySet<FileState> = new Set(["indexed", "reported", "failed"]);
const requestedHere = {
  next: "Its import was asked for on this device. The control plane does not know that yet, and gets the request as soon as it can be reached.",
  todo: null,
};

function describeReported({ isAutoImported, isRequestedHere, outcome }: FileFacts): ReturnType<Describer> {
  if (outcome)
    return { why: sentence(outcome.text), next: "Nothing until somebody requests it again.", todo: ASK_FOR_IT };
  if (isRequestedHere)
    return { why: "The control plane knows it, and somebody on this device asked for it.", ...requestedHere };
  return isAutoImported
    ? {
        why: "The control plane knows it. It matches the globs of DOWNLINK_AUTO_IMPORT, and is imported unless somebody cancelled that or deleted its data.",
        next: "If nobody did, it is uploaded within a minute.",
        todo: ASK_FOR_IT,
      }
    : {
        why: "The control plane knows it, and nobody has asked for its import.",
        next: "Nothing until somebody requests it.",
        todo: ASK_FOR_SUCH,
      };
}

/** States in which the file goes on only with the control plane. */
const needsCloud: ReadonlySet<FileState> = new Set(["indexed", "requested", "uploading"]);
const needsAgent: ReadonlySet<FileState> = new Set([...needsCloud, "seen", "settling", "unreadable"]);

function describeState(state: FileState, facts: FileFacts): ReturnType<Describer> {
  return {
    ...describers[state](facts),
    ...(facts.isRequestedHere && requestableHere.has(state) ? requestedHere : {}),
  };
}

export function explainState(facts: FileFacts): Explanation {
  const { path, state, status } = facts;
  const ofState = describeState(state, facts);
  const partly = facts.reasonCode === PARTLY_LISTED_CODE ? ` ${facts.reason}` : "";
  const described: Description = {
    lastAttempt: null,
    todo: null,
    problems: [],
    ...ofState,
    why: ofState.why + partly + asOf(facts),
  };
  if (status.health === "not running" && needsAgent.has(state))
    return { path, state, ...described, next: "Nothing: no agent runs.", todo: START_IT };
  const hindrance = hindranceOf(facts);
  if (!hindrance) return { path, state, ...described };
  const { code, title, detail, fix } = hindrance;
  return {
    ...{ path, state, ...described, problems: [code] },
    why: `${described.why} ${title}: ${detail}.`,
    next: "It continues by itself once that is over.",
    todo: fix,
  };
}

/** Returns the first problem of the agent as a whole that stops this file. */
function hindranceOf({ state, status }: FileFacts): StatusDocument["problems"][number] | undefined {
  const stops = new Set<string>(needsAgent.has(state) ? ["StorageMissing", "StorageUnusable", "StateUnwritable"] : []);
  if (needsCloud.has(state)) for (const code of cloudTroubles) stops.add(code);
  if (state === "requested" || state === "uploading") for (const code of uploadTroubles) stops.add(code);
  return status.problems.find(({ code }) => stops.has(code));
}

const cloudTroubles = [...provedOver, "Refused"] as const;
const uploadTroubles = ["DeviceDisabled", "CloudStorageFull", "CloudQuotaReached"] as const;

function describeRequested({ path, status, nowMs }: FileFacts): ReturnType<Describer> {
  const retry = status.retries.find((candidate) => candidate.path === path);
  if (retry) {
    const seconds = Math.max(0, (Date.parse(retry.nextTryAt) - nowMs) / 1000);
    return {
      why: "Its import was asked for, and its upload has failed so far.",
      lastAttempt: `${retry.lastError} (${retry.failures} ${retry.failures === 1 ? "try" : "tries"} failed)`,
      next: seconds === 0 ? "It is tried again now." : `It is tried again in ${formatDuration(seconds)}.`,
    };
  }
  const { isPaused, text, until } = status.throttle;
  if (isPaused)
    return {
      why: `Its import was asked for, and uploads are paused: ${text}.`,
      next: until === null ? "It goes on once that is over." : `It goes on at ${until}.`,
      todo: isPausedHere(status)
        ? "`agent resume` lets uploads go on."
        : "Change DOWNLINK_UPLOAD_RATE or DOWNLINK_UPLOAD_INTERFACES, here or in the control plane.",
    };
  const others = status.files.requested ?? 1;
  return {
    why: "Its import was asked for.",
    next: `It is uploaded when its turn comes: ${status.transfers.length} uploads run, ${others} files wait, higher priority first, then the older request.`,
  };
}

/** A running agent may be older than this command, and not know pauses. */
function isPausedHere({ pause }: { readonly pause?: StatusDocument["pause"] }): boolean {
  return (pause?.by ?? null) !== null;
}

/** Describes a file whose card is out. It describes the state beneath `away` too, as far as that does not need the file itself. */
function describeAway(facts: FileFacts): ReturnType<Describer> {
  const { card, since, before } = facts.away ?? { card: "?", since: "?", before: "reported" };
  const place = `It is on the card …${card}, which was taken out at ${since}`;
  const todo = `Put the card back in: its marker .downlink-root ends in ${card}, and the file is ${facts.path} on it.`;
  if (before === "requested")
    return {
      why: `${place}. Its import was asked for, and waits for the card.`,
      next: "It is uploaded once the card is in.",
      todo,
    };
  if (saysAllBeneath.has(before)) {
    const { why, next, todo: otherTodo } = describeState(before, facts);
    const needsCard = before === "reported" || before === "failed" ? " For an upload its card has to be in." : "";
    return { why: `${place}. ${why}`, next: next + needsCard, ...(otherTodo === undefined ? {} : { todo: otherTodo }) };
  }
  return {
    why: `${place}. Before that it was ${before}.`,
    next: "It stays listed, and continues from that state once the card is in.",
    todo,
  };
}

/** The texts of these states hold wherever the file is. */
const saysAllBeneath: ReadonlySet<FileState> = new Set(["reported", "stored", "imported", "failed", "duplicate"]);

function describeUploading({ path, status }: FileFacts): ReturnType<Describer> {
  const transfer = status.transfers.find((candidate) => candidate.path === path);
  if (!transfer)
    return { why: "It is being uploaded.", next: "The control plane imports it once every byte is there." };
  const { sentBytes, sizeBytes, bytesPerSecond, secondsLeft } = transfer;
  return {
    why: `It is being uploaded: ${formatBytes(sentBytes)} of ${formatBytes(sizeBytes)}, ${formatBytes(bytesPerSecond)}/s.`,
    next:
      secondsLeft === null
        ? "It continues once data flows again."
        : `It is uploaded in ${formatDuration(secondsLeft)}.`,
  };
}
