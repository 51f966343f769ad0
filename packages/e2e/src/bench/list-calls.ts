import { attachments, coverage, coverageGrid } from "./coverage-calls.ts";
import { BUSY_DEVICE_ID, EVENT_EVERY_NS, eventId } from "./dataset.ts";
import { episodes } from "./episode-calls.ts";
import { type FilteredList, HOUR_NS, type List, lateOffset, QUIET_DEVICE_ID, timeOf } from "./filtered-list.ts";
import { importErrors, imports, pendingImports } from "./import-calls.ts";
import { recordings, topics } from "./recording-calls.ts";
import type { Seeded } from "./seed.ts";

/** Every documented filter of every list, alone and in usual combinations of two, with every order of the list. */
export function filteredLists(seeded: Seeded): FilteredList[] {
  const lists = [
    ...[...small(), devices(seeded), ...histories(), events(seeded), sessions(seeded), deviceTokens(seeded)],
    episodes(seeded),
    ...[recordings(seeded), topics(seeded), coverage(seeded), coverageGrid(seeded), attachments(seeded)],
    ...[...pendingImports(seeded), importErrors(seeded), imports(seeded)],
  ];
  return lists.flatMap(({ path, filters, sortKeys = [] }) => {
    const orders = ["", ...sortKeys.flatMap((key) => [`${key} asc`, `${key} desc`])];
    return Object.entries(filters).map(([filter, query]) => ({ path, filter, query, orders }));
  });
}

function small(): List[] {
  const byType = ["device", "event", "session"].map((type) => [type, { resourceType: type }] as const);
  return [
    { path: "/v1/custom-properties", filters: { none: {}, ...Object.fromEntries(byType) } },
    { path: "/v1/event-types", filters: { none: {} } },
  ];
}

function devices({ projectId, counts }: Seeded): List {
  return {
    path: "/v1/devices",
    sortKeys: [
      "id",
      "name",
      "properties.battery",
      "properties.serial",
      "properties.autonomous",
      "properties.none",
      "lastSeenAt",
      "problems",
      "freeBytes",
    ],
    filters: {
      none: {},
      project: { projectId },
      "value of many": { query: "properties.fleet:fleet-7" },
      "value of one": { query: "properties.serial:c4ca4238a0b923820dcc509a6f75849b" },
      "value of none": { query: "properties.fleet:nowhere" },
      "two values": { query: "properties.fleet:fleet-7,fleet-8 properties.tags:tag-3" },
      "key of most": { query: "properties.battery:*" },
      "key of none": { query: "properties.none:*" },
      "any key": { query: "*:fleet-7" },
      "text of many": { query: "fleet-7" },
      "text of few": { query: "c4ca4238a0" },
      "text of none": { query: "zzzzzz" },
      "two letters": { query: "zq" },
      "part of many names": { nameMatches: "ROVER" },
      "part of few names": { nameMatches: "8f14-7" },
      "part of no name": { nameMatches: "nowhere" },
      "two letters of no name": { nameMatches: "zq" },
      "offset 90 %": { offset: lateOffset(counts.devices) },
    },
  };
}

function histories(): List[] {
  const sortKeys = ["id", "key", "start", "end"];
  const middle = { start: timeOf(200n), end: timeOf(203n) };
  const filters = {
    none: {},
    "three hours": middle,
    "from a time": { start: timeOf(1000n) },
    "to a time": { end: timeOf(9n) },
  };
  const queries = { "value of few": { query: "battery:value-31" }, "key of a third": { query: "fleet:*" } };
  const texts = { "text of none": { query: "zzzzzz" }, "two letters": { query: "zq" } };
  return [BUSY_DEVICE_ID, QUIET_DEVICE_ID].map((id) => ({
    path: `/v1/devices/${id}/property-time-intervals`,
    filters: { ...filters, ...queries, ...texts },
    sortKeys,
  }));
}

const eventQueries = {
  "value of many": { query: "reason:estop,fall" },
  "value of one": { query: "run:run-7" },
  "value of none": { query: "run:none" },
  "key of all": { query: "note:*" },
  "key of none": { query: "nothing:*" },
  "any key": { query: "*:run-7" },
  "text of all": { query: "robot" },
  "text of few": { query: "run-77" },
  "text of none": { query: "zzzzzz" },
  "two letters": { query: "zq" },
  "property value": { query: "zone:zone-7 severity:2", queryFields: "properties" },
  "property of none": { query: "zone:nowhere", queryFields: "properties" },
  "either field": { query: "zone:zone-7 reason:fall", queryFields: "metadata,properties" },
  "either field, none": { query: "zone:nowhere", queryFields: "metadata,properties" },
} as const;

function events({ projectId, counts }: Seeded): List {
  const hours = (BigInt(counts.events) * EVENT_EVERY_NS) / HOUR_NS;
  const hour = { start: timeOf(hours / 2n), end: timeOf(hours / 2n + 1n) };
  const twoMonths = { start: timeOf(hours / 2n), end: timeOf((hours * 2n) / 3n) };
  return {
    path: "/v1/events",
    sortKeys: ["id", "deviceId", "deviceName", "start", "createdAt", "updatedAt"],
    filters: {
      none: {},
      project: { projectId },
      "an hour": hour,
      "two months": twoMonths,
      "from a time": { start: timeOf((hours * 9n) / 10n) },
      "from the first": { start: timeOf(0n) },
      "to a time": { end: timeOf(hours / 10n) },
      "created after": { createdAfter: timeOf((hours * 9n) / 10n) },
      "updated after": { updatedAfter: timeOf((hours * 99n) / 100n) },
      "busy device": { deviceId: BUSY_DEVICE_ID },
      "quiet device": { deviceId: QUIET_DEVICE_ID },
      "device by name": { deviceName: "rover-8f14-7" },
      "busy device, two months": { deviceId: BUSY_DEVICE_ID, ...twoMonths },
      event: { eventId: eventId(5) },
      "event type": { eventTypeId: "evtt_3" },
      ...eventQueries,
      "an hour, key of all": { query: "note:*", ...hour },
      "two months, value of many": { query: "reason:estop", ...twoMonths },
      "offset 90 %": { offset: lateOffset(counts.events) },
    },
  };
}

function sessions({ projectId, counts }: Seeded): List {
  const hours = (BigInt(counts.events) * EVENT_EVERY_NS) / HOUR_NS;
  return {
    path: "/v1/sessions",
    sortKeys: ["id", "createdAt", "updatedAt"],
    filters: {
      none: {},
      project: { projectId },
      "part of few keys": { keyMatches: "c81e728d" },
      "part of all keys": { keyMatches: "run" },
      "part of no key": { keyMatches: "nothing" },
      "two letters of keys": { keyMatches: "zz" },
      "recorded within an hour": { start: timeOf(hours / 2n), end: timeOf(hours / 2n + 1n) },
      "recorded from a time": { start: timeOf((hours * 9n) / 10n) },
      "recorded to a time": { end: timeOf(hours / 10n) },
      device: { deviceId: QUIET_DEVICE_ID },
      "value of few": { query: "site:site-7" },
      "value of none": { query: "site:nowhere" },
      "key of all": { query: "shift:*" },
      "text of few": { query: "site-77" },
      "text of none": { query: "zzzzzz" },
      "two letters": { query: "zq" },
    },
  };
}

function deviceTokens({ counts }: Seeded): List {
  return {
    path: "/v1/device-tokens",
    filters: { none: {}, device: { deviceId: QUIET_DEVICE_ID }, "offset 90 %": { offset: lateOffset(counts.devices) } },
  };
}
