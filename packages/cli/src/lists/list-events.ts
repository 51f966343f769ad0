import { ApiCallError } from "@downlink/client";
import { api, type Event } from "@downlink/protocol";
import { readFilters } from "../flags/read-filters.ts";
import type { Service } from "../login/open-service.ts";
import { lengthText, propertiesText, timeText } from "./cell-texts.ts";
import type { Form, List } from "./list.ts";
import { readByCursor, readByOffset } from "./read-pages.ts";

const { list } = api.events;

const filters = {
  project: "projectId",
  device: "deviceName",
  type: "eventTypeId",
  start: "start",
  end: "end",
  createdAfter: "createdAfter",
  updatedAfter: "updatedAfter",
  query: "query",
  queryFields: "queryFields",
} as const;

type Names = ReadonlyMap<string, string>;

const formOf = (types: Names): Form<Event> => ({
  things: "events",
  head: ["ID", "START", "LENGTH", "TYPE", "DEVICE", "METADATA"],
  cells: ({ id, start, end, eventTypeId, device, metadata, properties }) => [
    id,
    timeText(start),
    lengthText(start, end),
    eventTypeId === undefined ? "-" : (types.get(eventTypeId) ?? eventTypeId),
    device.name,
    propertiesText({ ...properties, ...metadata }),
  ],
  fields: [
    ...["id", "projectId", "device.id", "device.name", "start", "end", "eventTypeId", "createdAt", "updatedAt"],
    ...["createdBy", "properties", "metadata"],
  ],
  encode: (rows) => list.response.encode([...rows]),
});

/** Lists events, the newest first. Their type may be given by its name. */
export const listEvents: List<Event> = async (service, flags, limit) => {
  const types = flags.type !== undefined || flags.output === "table" ? await readTypes(service) : new Map();
  const named = [...types].find(([, name]) => name === flags.type)?.[0];
  const given = readFilters(list, { ...flags, type: named ?? flags.type }, filters);
  const query = { ...given, sortBy: "start", sortOrder: "desc" } as const;
  const page = await readByCursor(limit, async (part) => {
    const { output, headers } = await service.client.callWithHeaders(list, { ...query, ...part });
    return { rows: output, headers };
  });
  return { page, form: formOf(types) };
};

const MOST_TYPES = 10_000;

/** Returns the names of event types by their ids, and none where the key may not list them. */
async function readTypes({ client }: Service): Promise<Names> {
  try {
    const { rows } = await readByOffset(MOST_TYPES, (part) => client.call(api.eventTypes.list, part));
    return new Map(rows.map(({ id, name }) => [id, name]));
  } catch (error) {
    if (error instanceof ApiCallError && error.status === 403) return new Map();
    throw error;
  }
}
