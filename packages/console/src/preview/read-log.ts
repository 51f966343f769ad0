import { isStruct, partOf, type Value } from "@downlink/messages/value";

/** A line of a log. */
export interface LogRow {
  readonly timeNs: number;
  readonly level: LogLevel;
  readonly node: string;
  readonly text: string;
}

/** From the least to the worst. */
export const LOG_LEVELS = ["?", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const MOST_CHARACTERS = 2000;

const ros1: Readonly<Record<number, LogLevel>> = { 1: "DEBUG", 2: "INFO", 4: "WARN", 8: "ERROR", 16: "FATAL" };

/** Reads a message of rosgraph_msgs/Log, rcl_interfaces/msg/Log or foxglove.Log. */
export function readLog(message: Value, timeNs: number): LogRow {
  const text = partOf(message, "msg") ?? partOf(message, "message");
  return {
    timeNs,
    level: levelOf(message),
    node: textOf(partOf(message, "name")),
    text: textOf(text),
  };
}

/**
 * Returns the name of a level. Each system counts in its own way, and they are told apart by the fields that only one of them has: ROS
 * writes `msg` and foxglove `message`; ROS 2 counts in tens.
 */
function levelOf(message: Value): LogLevel {
  const level = partOf(message, "level");
  if (typeof level === "string")
    return LOG_LEVELS.find((name) => name.startsWith(level.toUpperCase().slice(0, 4))) ?? "?";
  const number = Number(level);
  if (!isStruct(message) || !Object.hasOwn(message, "msg")) return LOG_LEVELS[number] ?? "?";
  return (number >= 10 && number % 10 === 0 ? LOG_LEVELS[number / 10] : ros1[number]) ?? "?";
}

function textOf(value: Value | undefined): string {
  const text = typeof value === "string" ? value : "";
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
