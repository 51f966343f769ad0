import { ImportStatus, parseTimestamp, type RecordingFilter } from "@downlink/protocol";
import { formatMany } from "../parts/bytes.ts";
import { boundsOf } from "../time/range.ts";
import { timeText } from "../time/zone.ts";
import { choiceParam, choicesParam, listParam, textParam, timeParam, type Values } from "../url/params.ts";

export const SORTS = ["start", "duration", "path", "deviceName", "createdAt"] as const;

/** The parameters in the address of the list of recordings. */
export const listParams = {
  from: timeParam,
  to: timeParam,
  device: textParam,
  /** Ids. */
  devices: listParam,
  status: choicesParam(ImportStatus.options),
  topic: textParam,
  meta: textParam,
  path: textParam,
  session: textParam,
  sort: choiceParam(SORTS, "start"),
  order: choiceParam(["asc", "desc"], "desc"),
};
export type ListValues = Values<typeof listParams>;

/** Returns the query for the filters of the page. */
export function toFilter(values: ListValues, projectId: string, nowMs: number): RecordingFilter {
  return {
    projectId,
    ...boundsOf(values, nowMs),
    ...(values.device && { deviceName: values.device }),
    ...(values.devices.length > 0 && { deviceIds: [...values.devices] }),
    ...(values.status.length > 0 && { importStatus: [...values.status] }),
    ...(values.topic && { topic: values.topic }),
    ...(values.meta && { metadataQuery: values.meta }),
    ...(values.path && { pathMatches: values.path }),
    ...(values.session && { sessionKey: values.session }),
  };
}

/** Says which filters narrow the list, each with the values without it. */
export function activeFilters(
  values: ListValues,
): readonly { name: string; text: string; without: Partial<ListValues> }[] {
  const texts = [
    ["device", "device"],
    ["topic", "topic"],
    ["meta", "metadata"],
    ["path", "path"],
    ["session", "session"],
  ] as const;
  return [
    ...(values.from || values.to
      ? [
          {
            name: "time",
            text: `${boundText(values.from, "…")} – ${boundText(values.to, "now")}`,
            without: { from: "", to: "" },
          },
        ]
      : []),
    ...texts.flatMap(([key, name]) => (values[key] ? [{ name, text: values[key], without: { [key]: "" } }] : [])),
    ...(values.devices.length > 0
      ? [{ name: "devices", text: formatMany(values.devices.length, "device"), without: { devices: [] } }]
      : []),
    ...(values.status.length > 0 ? [{ name: "status", text: values.status.join(", "), without: { status: [] } }] : []),
  ];
}

/** Returns a bound to the second, as times are shown; one that moves with the time stays as it was typed. */
function boundText(bound: string, absent: string): string {
  const timeNs = parseTimestamp(bound);
  return timeNs === undefined ? bound || absent : timeText(timeNs);
}
