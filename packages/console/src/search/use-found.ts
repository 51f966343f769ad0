import {
  type Dataset,
  type Device,
  datasets,
  devices,
  type Event,
  type EventType,
  events,
  eventTypes,
  type Me,
  type Operation,
  type Recording,
  recordings,
  type Site,
  sites,
} from "@downlink/protocol";
import type { Failure } from "../api/failure.ts";
import { mayCall } from "../api/me.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { usePause } from "../browser/use-pause.ts";
import { timeText } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import { type Found, type FoundGroup, quoteTerm, withWords } from "./found.ts";

/** How many of a kind are shown. */
const FEW = 5;
const MOST_SITES = 500;
const PAUSE_MS = 150;

export interface FoundData {
  readonly groups: readonly FoundGroup[];
  readonly isLoading: boolean;
  readonly failure: Failure | undefined;
}

interface Where {
  readonly me: Me | undefined;
  readonly projectId: string | undefined;
}

/** Looks for a text in all that the user may list. Answers to a text that is no longer the typed one are not shown. */
export function useFoundData(typed: string, { me, projectId = "" }: Where): FoundData {
  const text = usePause(typed.trim(), PAUSE_MS);
  const isAsked = text !== "" && projectId !== "";
  const asks = (operation: Operation, isWanted = true) => ({
    isEnabled: isAsked && isWanted && mayCall(me, operation),
  });
  const input = { projectId, limit: FEW };
  const newest = { sortBy: "start", sortOrder: "desc" } as const;
  const isEventId = text.startsWith("evt_");
  const terms = isEventId ? { eventId: text } : { query: quoteTerm(text), queryFields: [...EVENT_FIELDS] };
  const found = {
    devices: useQuery(devices.list, { ...input, nameMatches: text, sortBy: "name" }, asks(devices.list)),
    recordings: useQuery(recordings.list, { ...input, ...newest, pathMatches: text }, asks(recordings.list)),
    recording: useQuery(recordings.get, { projectId, keyOrId: text }, asks(recordings.get, text.startsWith("rec_"))),
    events: useQuery(events.list, { ...input, ...newest, ...terms }, asks(events.list)),
    types: useQuery(eventTypes.list, {}, asks(eventTypes.list)),
    datasets: useQuery(datasets.list, { ...input, name: text, sortBy: "name" }, asks(datasets.list)),
    sites: useQuery(sites.list, { limit: MOST_SITES }, asks(sites.list)),
  };
  const all: readonly Query<unknown>[] = Object.values(found);
  const isSettled = text === typed.trim();
  return {
    groups: isAsked && isSettled ? groupsOf(found, { projectId, text }) : [],
    isLoading: isAsked && (!isSettled || all.some(({ isLoading }) => isLoading)),
    failure: isAsked ? all.find(({ failure }) => failure && failure.kind !== "missing")?.failure : undefined,
  };
}

const EVENT_FIELDS = ["metadata", "properties"] as const;

interface Answers {
  readonly devices: Query<Device[]>;
  readonly recordings: Query<Recording[]>;
  readonly recording: Query<Recording>;
  readonly events: Query<Event[]>;
  readonly types: Query<EventType[]>;
  readonly datasets: Query<Dataset[]>;
  readonly sites: Query<Site[]>;
}

interface Asked {
  readonly projectId: string;
  readonly text: string;
}

function groupsOf(answers: Answers, asked: Asked): readonly FoundGroup[] {
  const { projectId, text } = asked;
  const rowsOf = <T>({ data, isOld, failure }: Query<T[]>): readonly T[] => (isOld || failure ? [] : (data ?? []));
  const { data: exact, isOld, failure } = answers.recording;
  const byId = exact && !isOld && !failure && exact.id === text ? [exact] : [];
  const typeOf = ({ eventTypeId }: Event) => answers.types.data?.find(({ id }) => id === eventTypeId)?.name ?? "Event";
  const pathOf = (page: string, id: string) => pagePath(projectId, page, id);
  return [
    { title: "Devices", found: withMore(rowsOf(answers.devices).map(deviceFound(projectId)), moreDevices(asked)) },
    {
      title: "Recordings",
      found: withMore([...byId, ...rowsOf(answers.recordings)].map(recordingFound(projectId)), moreRecordings(asked)),
    },
    {
      title: "Events",
      found: rowsOf(answers.events).map((event) => {
        const detail = `${event.device.name} · ${timeText(event.start)}`;
        return { id: event.id, text: typeOf(event), detail, href: pathOf("events", event.id) };
      }),
    },
    {
      title: "Datasets",
      found: rowsOf(answers.datasets).map(({ id, name }) => ({ id, text: name, href: pathOf("datasets", id) })),
    },
    { title: "Sites", found: withWords(rowsOf(answers.sites).map(siteFound), text).slice(0, FEW) },
  ].filter(({ found }) => found.length > 0);
}

const deviceFound =
  (projectId: string) =>
  ({ id, name }: Device): Found => ({ id, text: name, href: pagePath(projectId, "devices", name) });

const recordingFound =
  (projectId: string) =>
  ({ id, path, device, start }: Recording): Found => {
    const detail = [device?.name, timeText(start)].filter(Boolean).join(" · ");
    return { id, text: path || id, detail, href: pagePath(projectId, "recordings", id) };
  };

function siteFound({ id, name }: Site): Found {
  return { id, text: name, href: `/sites/${encodeURIComponent(id)}` };
}

/** A full group ends with a way to all of its kind. */
function withMore(found: readonly Found[], more: Found): readonly Found[] {
  return found.length < FEW ? found : [...found, more];
}

function moreDevices({ projectId, text }: Asked): Found {
  const href = `${pagePath(projectId, "devices")}?q=${encodeURIComponent(text)}`;
  return { id: "more-devices", text: `All devices with “${text}”`, href };
}

function moreRecordings({ projectId, text }: Asked): Found {
  const href = `${pagePath(projectId, "recordings")}?path=${encodeURIComponent(text)}`;
  return { id: "more-recordings", text: `All recordings with “${text}”`, href };
}
