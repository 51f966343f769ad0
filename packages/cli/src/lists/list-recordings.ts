import { api, type Recording } from "@downlink/protocol";
import { formatBytes } from "@downlink/terminal/amounts";
import { readFilters } from "../flags/read-filters.ts";
import { lengthText, timeText } from "./cell-texts.ts";
import type { Form, List } from "./list.ts";
import { readByCursor } from "./read-pages.ts";

const { list } = api.recordings;

const filters = {
  project: "projectId",
  device: "deviceName",
  path: "pathMatches",
  topic: "topic",
  start: "start",
  end: "end",
  status: "importStatus",
  metadataQuery: "metadataQuery",
} as const;

const form: Form<Recording> = {
  things: "recordings",
  head: ["ID", "START", "LENGTH", "SIZE", "IMPORT", "DEVICE", "PATH"],
  cells: ({ id, start, end, size, importStatus, device, path }) => [
    id,
    timeText(start),
    lengthText(start, end),
    formatBytes(size),
    importStatus,
    device?.name ?? "-",
    path,
  ],
  fields: [
    ...["id", "projectId", "device.id", "device.name", "path", "size", "start", "end", "importStatus", "createdAt"],
    ...[
      "importedAt",
      "key",
      "messageCount",
      "sessionId",
      "sessionKey",
      "site.id",
      "edgeSite.id",
      "failure.text",
      "metadata",
    ],
  ],
  encode: (rows) => list.response.encode([...rows]),
};

/** Lists recordings, the newest first. */
export const listRecordings: List<Recording> = async ({ client }, flags, limit) => {
  const query = { ...readFilters(list, flags, filters), sortBy: "start", sortOrder: "desc" } as const;
  const page = await readByCursor(limit, async (part) => {
    const { output, headers } = await client.callWithHeaders(list, { ...query, ...part });
    return { rows: output, headers };
  });
  return { page, form };
};
