import type { EventType, PropertyValue } from "@downlink/protocol";
import { splitTrimmed } from "../parts/split-trimmed.ts";
import { parseTime } from "../time/parse-time.ts";

type TypedProperty = EventType["properties"][number];

/** An event as it stands in a form: texts, whatever they mean. */
export interface EventFields {
  readonly deviceName: string;
  readonly start: string;
  readonly end: string;
  readonly eventTypeId: string;
  readonly metadata: string;
  readonly properties: Readonly<Record<string, string>>;
}

export interface ReadEvent {
  readonly deviceName: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly eventTypeId: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, PropertyValue | null>>;
}

/** Reads a form. An invalid value is named by its field, and is otherwise ignored. */
export function readEvent(
  fields: EventFields,
  { type, zone, nowMs }: { type: EventType | undefined; zone: string; nowMs: number },
): { event?: ReadEvent; problems: Readonly<Record<string, string>> } {
  const problems: Record<string, string> = {};
  const [start, end] = [
    parseTime(fields.start, { zone, nowMs }),
    parseTime(fields.end || fields.start, { zone, nowMs }),
  ];
  if (fields.deviceName.trim() === "") problems.deviceName = "Choose a device: an event is on its time line.";
  if ("problem" in start) problems.start = start.problem;
  if ("problem" in end && fields.end !== "") problems.end = end.problem;
  if ("timeNs" in start && "timeNs" in end && end.timeNs < start.timeNs)
    problems.end = "The end lies before the start.";
  const metadata = readMetadata(fields.metadata);
  if (typeof metadata === "string") problems.metadata = metadata;
  const properties = readProperties(fields.properties, type?.properties ?? []);
  for (const [key, value] of Object.entries(properties))
    if (value instanceof Error) problems[`property ${key}`] = value.message;
  if (Object.keys(problems).length > 0 || "problem" in start || "problem" in end) return { problems };
  const { deviceName, eventTypeId } = fields;
  const event = {
    ...{ deviceName: deviceName.trim(), start: start.timeNs, end: end.timeNs, eventTypeId: eventTypeId || undefined },
    metadata: metadata as Record<string, string>,
    properties: properties as Record<string, PropertyValue | null>,
  };
  return { event, problems: {} };
}

/** Reads one `key: value` a line. Returns a sentence if a line is none. */
export function readMetadata(text: string): Record<string, string> | string {
  const found: [string, string][] = [];
  for (const line of text.split("\n").filter((one) => one.trim() !== "")) {
    const at = line.indexOf(":");
    if (at <= 0) return `“${line.trim()}” is not written as key: value.`;
    found.push([line.slice(0, at).trim(), line.slice(at + 1).trim()]);
  }
  return Object.fromEntries(found);
}

export function writeMetadata(metadata: Readonly<Record<string, string>>): string {
  return Object.entries(metadata)
    .map(([key, value]) => `${key}: ${value}`)
    .join("\n");
}

function readProperties(
  texts: Readonly<Record<string, string>>,
  wanted: readonly TypedProperty[],
): Record<string, PropertyValue | null | Error> {
  return Object.fromEntries(
    wanted.map((property) => [property.key, readProperty(texts[property.key] ?? "", property)]),
  );
}

function readProperty(text: string, { required, valueType, label }: TypedProperty): PropertyValue | null | Error {
  if (text.trim() === "") return required ? new Error(`${label} is required.`) : null;
  if (valueType === "number") {
    const number = Number(text);
    return Number.isFinite(number) ? number : new Error(`“${text}” is not a number.`);
  }
  if (valueType === "boolean") return text === "true";
  if (valueType === "multi-enum") return splitTrimmed(text, ",");
  return text;
}
