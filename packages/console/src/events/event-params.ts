import { boundsOf } from "../time/range.ts";
import { choiceParam, flagParam, listParam, textParam, timeParam, type Values } from "../url/params.ts";

export const EVENT_SORTS = ["start", "createdAt", "deviceName"] as const;

/** The parameters in the address of the list of events. */
export const eventParams = {
  from: timeParam,
  to: timeParam,
  device: textParam,
  type: textParam,
  q: textParam,
  sort: choiceParam(EVENT_SORTS, "start"),
  order: choiceParam(["asc", "desc"], "desc"),
  /** New events are drawn from here: start, end and the names of their devices, one event for each. */
  new: listParam,
  /** The dialog for a new event is open. */
  add: flagParam,
};
export type EventValues = Values<typeof eventParams>;

/** Returns the query for the filters of the page. */
export function toEventFilter(values: EventValues, projectId: string, nowMs: number) {
  return {
    projectId,
    ...boundsOf(values, nowMs),
    ...(values.device && { deviceName: values.device }),
    ...(values.type && { eventTypeId: values.type }),
    ...(values.q && { query: values.q, queryFields: ["metadata", "properties"] as ("metadata" | "properties")[] }),
  };
}
