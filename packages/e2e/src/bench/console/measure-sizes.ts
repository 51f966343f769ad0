import { api } from "@downlink/protocol";
import { request } from "undici";
import { allPages } from "../../console/testing/all-pages.ts";
import { deviceId, eventId } from "../dataset.ts";
import { edgeSiteId, recordingId } from "../recording-dataset.ts";
import { idOf } from "../seed-sql.ts";
import type { ConsoleUnderTest } from "./console-under-test.ts";
import { type Row, sizeRow, toKilobytes } from "./rows.ts";

const MOST_FIRST_BYTES = 90_000;
const MOST_PAGE_BYTES = 25_000;
/** Four decoders of messages, and plots, tracks, logs and pictures with the film that plays them. */
const MOST_PREVIEW_BYTES = 70_000;
const LOOK = "?topics=/ros2/motion,/ros2/camera,/json/fix,/json/log";

/** Measures how many bytes of scripts and styles each page of the console is sent, as gzip. */
export async function measureSizes(console: ConsoleUnderTest): Promise<Row[]> {
  const sizeOf = sizes();
  const { projectId, sensorRecordingId } = console;
  const recording = `/p/${projectId}/recordings/${sensorRecordingId}?tab=overview`;
  const coverage = await findParts(console, `/p/${projectId}/coverage`);
  const first = await sum([...coverage].map(sizeOf));
  const rows = [sizeRow({ what: "first load of Coverage", value: first, most: MOST_FIRST_BYTES })];
  for (const [name, path] of await lazyPages(console)) {
    const parts = await findParts(console, path);
    const [added, alone] = await Promise.all([without(parts, coverage), [...parts]].map((all) => sum(all.map(sizeOf))));
    const note = `${toKilobytes(alone!)} where it is opened first`;
    rows.push(sizeRow({ what: `page ${name}, beyond Coverage`, value: added!, most: MOST_PAGE_BYTES, note }));
  }
  const overview = await findParts(console, recording);
  const preview = without(
    await findParts(console, recording.replace("?tab=overview", LOOK)),
    new Set([...overview, ...coverage]),
  );
  const note = preview.map((part) => /[^/]+$/.exec(part)![0]).join(", ");
  const value = await sum(preview.map(sizeOf));
  return [
    ...rows,
    sizeRow({ what: "preview and its worker, beyond Recording", value, most: MOST_PREVIEW_BYTES, note }),
  ];
}

/** Returns the addresses of the scripts and styles that a browser without a cache asks for to show a page. */
async function findParts({ newTab }: ConsoleUnderTest, path: string): Promise<Set<string>> {
  await using tab = await newTab();
  const parts = new Set<string>();
  tab.context.on("response", (answer) => {
    if (answer.ok() && /\/assets\/[^/]+\.(js|css)$/.test(answer.url())) parts.add(answer.url());
  });
  await tab.open(path);
  if (tab.complaints.length > 0) throw new Error(`${path}: ${tab.complaints.join("; ")}`);
  return parts;
}

function without(parts: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  return [...parts].filter((part) => !others.has(part));
}

/** Remembers the bytes of each part as they come by the network to a browser that takes gzip. */
function sizes(): (part: string) => Promise<number> {
  const known = new Map<string, Promise<number>>();
  const load = async (part: string) => {
    const { headers, body } = await request(part, { headers: { "accept-encoding": "gzip" } });
    if (headers["content-encoding"] !== "gzip") throw new Error(`${part} did not come as gzip`);
    return (await body.arrayBuffer()).byteLength;
  };
  return (part) => {
    const size = known.get(part) ?? load(part);
    known.set(part, size);
    return size;
  };
}

async function sum(sizesBytes: readonly Promise<number>[]): Promise<number> {
  return (await Promise.all(sizesBytes)).reduce((total, bytes) => total + bytes, 0);
}

async function lazyPages({ projectId, cloud }: ConsoleUnderTest): Promise<(readonly [string, string])[]> {
  const { admin } = cloud;
  const dataset = await admin.call(api.datasets.create, { projectId, name: "bench", episodeIds: [] });
  const webhook = await admin.call(api.webhooks.create, {
    name: "bench",
    url: "https://example.com/hook",
    eventTypes: ["device.created"],
  });
  const { name } = await admin.call(api.devices.get, { nameOrId: deviceId(1), projectId });
  const inProject = {
    device: `devices/${name}`,
    recording: `recordings/${recordingId(1)}?tab=overview`,
    event: `events/${eventId(1)}`,
    dataset: `datasets/${dataset.id}`,
    training: `datasets/${dataset.id}/training`,
    episode: `episodes/${idOf("ep", 1)}`,
  };
  const others = {
    "settings-projects": "/settings/projects",
    "settings-account": "/settings/account",
    webhook: `/settings/webhooks/${webhook.id}`,
    site: `/sites/${edgeSiteId(1)}`,
  };
  return [
    ...allPages(projectId).filter(([page]) => page !== "coverage"),
    ...Object.entries(inProject).map(([page, path]) => [page, `/p/${projectId}/${path}`] as const),
    ...Object.entries(others),
  ];
}
