import { api, type Device } from "@downlink/protocol";
import { formatBytes } from "@downlink/terminal/amounts";
import { readFilters } from "../flags/read-filters.ts";
import { timeText } from "./cell-texts.ts";
import type { Form, List } from "./list.ts";
import { readByCursor } from "./read-pages.ts";

const { list } = api.devices;

const filters = { project: "projectId", name: "nameMatches", query: "query" } as const;

const form: Form<Device> = {
  things: "devices",
  head: ["ID", "AGENT", "SEEN", "FREE", "PROBLEMS", "NAME"],
  cells: ({ id, name, agent }) => [
    id,
    agentText(agent),
    timeText(agent?.lastSeenAt),
    agent?.status?.disk ? formatBytes(agent.status.disk.freeBytes) : "-",
    agent?.status ? String(agent.status.problems.length) : "-",
    name,
  ],
  fields: [
    ...[
      "id",
      "name",
      "projectId",
      "enabled",
      "remoteAccessEnabled",
      "autoDeleteAfterImport",
      "retainRecordingsSeconds",
    ],
    ...["createdAt", "updatedAt", "agent.online", "agent.lastSeenAt", "agent.version", "agent.status.disk.freeBytes"],
    ...["agent.status.problems", "properties"],
  ],
  encode: (rows) => list.response.encode([...rows]),
};

function agentText(agent: Device["agent"]): string {
  if (!agent) return "none";
  return agent.online ? "online" : "offline";
}

/** Lists devices by name. */
export const listDevices: List<Device> = async ({ client }, flags, limit) => {
  const query = { ...readFilters(list, flags, filters), sortBy: "name" } as const;
  const page = await readByCursor(limit, async (part) => {
    const { output, headers } = await client.callWithHeaders(list, { ...query, ...part });
    return { rows: output, headers };
  });
  return { page, form };
};
