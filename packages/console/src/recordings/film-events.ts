import { type Event, type EventType, events, eventTypes, type Recording } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import type { FilmEvent } from "../preview/film-events.tsx";
import type { Span } from "../preview/preview-window.ts";

/** More events of a window than these are not shown. */
const MOST_EVENTS = 100;

/** Returns the events of a recording's device in a part of it, as far as the user may see them. */
export function useFilmEvents({ device, projectId }: Recording, { startNs: start, endNs: end }: Span): FilmEvent[] {
  const { data: me } = useMe();
  const query = { deviceId: device?.id, projectId, start, end, sortBy: "start", limit: MOST_EVENTS } as const;
  const isEnabled = device !== undefined && may(me, "events.list");
  const { data: found = [] } = useQuery(events.list, query, { isEnabled });
  const { data: types = [] } = useQuery(eventTypes.list, {}, { isEnabled: found.length > 0 });
  return found.map((event) => toFilmEvent(event, types));
}

function toFilmEvent({ id, start, end, eventTypeId }: Event, types: readonly EventType[]): FilmEvent {
  const name = types.find((type) => type.id === eventTypeId)?.name ?? "Event";
  return { id, name, startNs: start, endNs: end };
}
