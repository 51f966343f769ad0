import { api, type CoverageRange } from "@downlink/protocol";
import type { Form, Listed } from "../lists/list.ts";
import type { Service } from "../login/open-service.ts";
import type { Selection } from "./selection.ts";

const { list } = api.coverage;

const form: Form<CoverageRange> = {
  things: "ranges",
  head: [],
  cells: () => [],
  fields: [
    ...["device.id", "device.name", "start", "end", "importStatus", "recordingCount"],
    ...["edgeSite.id", "edgeSite.name"],
  ],
  encode: (rows) => list.response.encode([...rows]),
};

/** Lists the ranges of time with data, also with data that is on the devices only. */
export async function listRanges({ client }: Service, { window, ...where }: Selection): Promise<Listed<CoverageRange>> {
  const rows = window ? await client.call(list, { ...where, ...window, includeEdgeRecordings: true }) : [];
  return { page: { rows, isMore: false }, form };
}
