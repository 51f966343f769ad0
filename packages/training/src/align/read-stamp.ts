import type { Message } from "@downlink/messages/read-mcap";
import { partOf, type Value } from "@downlink/messages/value";
import { TrainingError } from "../episodes/episode.ts";
import type { PlannedPart, Stamp } from "./plan.ts";
import { valueAt } from "./read-part.ts";

/** Returns the time of a message for a part, in nanoseconds of the Unix time. Throws {@link TrainingError} where it has none. */
export function readStamp(
  { part, stamp }: Pick<PlannedPart, "part" | "stamp">,
  message: Message,
  value: () => Value,
): bigint {
  return stampOf(stamp, message, value) + BigInt(Math.round(part.offsetMs * 1e6));
}

function stampOf(source: Stamp, message: Message, value: () => Value): bigint {
  if (source === "log") return message.logTimeNs;
  if (source === "publish") return message.publishTimeNs;
  const found =
    source === "header"
      ? (valueAt(value(), "header.stamp") ?? valueAt(value(), "timestamp"))
      : valueAt(value(), source.field);
  const stampNs = toNs(found);
  const where = source === "header" ? "header" : source.field;
  if (stampNs === undefined) throw new TrainingError(`messages of ${message.channel.topic} have no time in ${where}`);
  if (stampNs === 0n) throw new TrainingError(`a message of ${message.channel.topic} has the time 0 in ${where}`);
  return stampNs;
}

/** Reads the times of ROS 1 (`sec`, `nsec`), of ROS 2 (`sec`, `nanosec`), of protobuf (`seconds`, `nanos`), and whole nanoseconds. */
function toNs(value: Value | undefined): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  const seconds = integerOf(partOf(value, "sec") ?? partOf(value, "seconds"));
  const rest = integerOf(partOf(value, "nsec") ?? partOf(value, "nanosec") ?? partOf(value, "nanos") ?? 0);
  return seconds === undefined || rest === undefined ? undefined : seconds * 1_000_000_000n + rest;
}

function integerOf(value: Value | undefined): bigint | undefined {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
