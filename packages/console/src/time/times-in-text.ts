import { parseTimestamp } from "@downlink/protocol";
import { timeText } from "./zone.ts";

const TIMES = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z/g;

/** Writes the times in a sentence of the service as the pages write them. */
export function withTimes(text: string): string {
  return text.replace(TIMES, (time) => {
    const timeNs = parseTimestamp(time);
    return timeNs === undefined ? time : timeText(timeNs);
  });
}
