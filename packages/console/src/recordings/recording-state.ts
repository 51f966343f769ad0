import type { Device, QueuedImport, Recording } from "@downlink/protocol";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { formatAge, formatDuration } from "../time/format-time.ts";
import { withTimes } from "../time/times-in-text.ts";
import { timeText } from "../time/zone.ts";

export interface RecordingState {
  /** Where its data is, in whole sentences. */
  readonly text: string;
  /** The step that a person can take, where there is one. */
  readonly fix?: string;
}

type About = Pick<
  Recording,
  "importStatus" | "importedAt" | "device" | "failure" | "location" | "unavailable" | "storedDamage" | "cuts" | "cutOf"
>;

/** The agent of its device, as it was last heard of. */
type Agent = Pick<NonNullable<Device["agent"]>, "lastSeenAt" | "online">;

/** Says where the data of a recording is, and what it waits for. `queued` is its place in the queue of its device. */
export function describeState(
  { agent, ...recording }: About & { readonly agent?: Agent | undefined },
  queued: QueuedImport | undefined,
  nowMs: number,
): RecordingState {
  const { importStatus, storedDamage } = recording;
  if (importStatus === "none" && !storedDamage) return describeRest(recording, agent, nowMs);
  if (!storedDamage) return describeStatus(recording, queued, nowMs);
  const damage = describeStored(storedDamage, nowMs);
  if (importStatus === "complete") return { text: `${damage} It is being read again.` };
  if (importStatus === "failed")
    return { text: `${damage} Its device is asked for the file, if that still has it.`, fix: REPAIR };
  const { text, ...fix } = describeStatus(recording, queued, nowMs);
  return { text: `${damage} ${text}`, ...fix };
}

const REPAIR = "Request its import, or upload the same file.";

const DAMAGES: Readonly<Record<NonNullable<About["storedDamage"]>["reason"], string>> = {
  missing: "Its data is missing in the store",
  truncated: "Its data in the store has another size than what was imported",
  altered: "Its data in the store is not what was imported",
};

function describeStored({ reason, since }: NonNullable<About["storedDamage"]>, nowMs: number): string {
  return `${DAMAGES[reason]}, as was found ${formatAge(since, nowMs)} (${timeText(since)}): it cannot be opened.`;
}

function describeStatus(recording: About, queued: QueuedImport | undefined, nowMs: number): RecordingState {
  const { importStatus, importedAt, failure, location, unavailable } = recording;
  switch (importStatus) {
    case "none":
      return describeRest(recording, undefined, nowMs);
    case "pending":
      return queued ? describeQueued(queued, nowMs) : { text: "Its import was requested." };
    case "importing":
      return { text: "Its bytes are here and are being processed." };
    case "failed":
      return { text: `Its import failed: ${failure?.text ?? "the reason is not known"}`, ...fixOf(failure?.code) };
    case "complete": {
      const where = location ? `In the bucket ${location.bucket}` : "Its data is here";
      const text =
        importedAt === undefined
          ? `${where}.`
          : `${where} since ${timeText(importedAt)} (${formatAge(importedAt, nowMs)}).`;
      return { text: unavailable ? `${text} ${describeUnavailable(unavailable, nowMs)}` : text };
    }
  }
}

/** The badge before the sentence says that it is on the device. */
function describeRest(
  { device, cuts = [], cutOf }: Pick<About, "device" | "cuts" | "cutOf">,
  agent: Agent | undefined,
  nowMs: number,
): RecordingState {
  // Its device removed the part, and cuts it again from the whole recording.
  if (cutOf)
    return { text: "Its data is not here.", fix: "Request the part again on the page of the whole recording." };
  const here = cuts.filter(({ importStatus }) => importStatus === "complete").length;
  const name = device?.name ?? "its device";
  const parts = here === 1 ? "One part of it is here." : `${formatCount(here)} parts of it are here.`;
  const text = here === 0 ? `Only ${name} has it.` : `Only ${name} has all of it. ${parts}`;
  if (!agent || agent.online) return { text };
  const since = `${formatAge(agent.lastSeenAt, nowMs)} (${timeText(agent.lastSeenAt)})`;
  return { text: `${text} It is silent: its agent last made contact ${since}. An import begins once it is back.` };
}

function describeUnavailable({ reason, since }: NonNullable<About["unavailable"]>, nowMs: number): string {
  return `It cannot be read since ${timeText(since)} (${formatAge(since, nowMs)}): ${endSentence(reason)} It comes back by itself.`;
}

function describeQueued(queued: QueuedImport, nowMs: number): RecordingState {
  const { state, waitsFor, position } = queued;
  if (state === "uploading") return { text: describeUpload(queued) };
  const place = position === undefined ? "" : ` It is number ${position} in the queue of its device.`;
  if (!waitsFor) return { text: `Its import was requested.${place}` };
  const until =
    waitsFor.until === undefined ? "" : ` That ends ${formatAge(waitsFor.until, nowMs)} (${timeText(waitsFor.until)}).`;
  const text = `Its import was requested and waits: ${endSentence(withTimes(waitsFor.text))}${until}${place}`;
  return waitsFor.fix === undefined ? { text } : { text, fix: endSentence(waitsFor.fix) };
}

function describeUpload({ size, bytesReceived, bytesPerSecond }: QueuedImport): string {
  const received = `${formatBytes(bytesReceived)}${size === undefined ? "" : ` of ${formatBytes(size)}`}`;
  const percent = size ? `${Math.floor((100 * bytesReceived) / size)} %, ` : "";
  if (!bytesPerSecond) return `It is on its way: ${percent}${received}.`;
  const restSeconds = size === undefined ? undefined : Math.ceil((size - bytesReceived) / bytesPerSecond);
  const rest = restSeconds === undefined ? "" : `, about ${formatDuration(BigInt(restSeconds) * 1_000_000_000n)} more`;
  return `It is on its way: ${percent}${received} at ${formatBytes(bytesPerSecond)}/s${rest}.`;
}

function fixOf(code: string | undefined): { fix?: string } {
  return code === undefined ? {} : { fix: `Its code is ${code}. A new import may be requested.` };
}

function endSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

type Damage = NonNullable<Recording["damage"]>;

/** Says which imported data cannot be read, and which no checksum proves. */
export function describeDamage(damage: Damage): string {
  const lost = describeLost(damage);
  const { messagesGuessed = 0, messagesDoubted = 0 } = damage;
  return [
    lost === ""
      ? "It is damaged, and nothing of its data was lost."
      : `It is damaged: ${lost} cannot be read. Exports leave them out.`,
    ...(messagesGuessed > 0
      ? [`${formatCount(messagesGuessed)} messages were read from incomplete chunks, and no checksum proves them.`]
      : []),
    ...(messagesDoubted > 0 ? [`${formatCount(messagesDoubted)} messages have impossible times.`] : []),
  ].join(" ");
}

function describeLost({ chunksLost, messagesLost, isCountKnown, attachmentsLost, bytesLost }: Damage): string {
  const parts = [
    ...(chunksLost > 0 ? [`${formatCount(chunksLost)} chunks`] : []),
    ...(messagesLost > 0 || !isCountKnown
      ? [`${isCountKnown ? "" : "at least "}${formatCount(messagesLost)} messages`]
      : []),
    ...(attachmentsLost > 0 ? [`${formatCount(attachmentsLost)} attachments`] : []),
  ];
  return parts.length === 0 ? "" : `${parts.join(", ")} (${formatBytes(bytesLost)})`;
}
