import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { page, sorting } from "../shapes/list.ts";
import { PropertyChanges, PropertyValues } from "../shapes/properties.ts";
import { queryText } from "../shapes/query-text.ts";
import { byDevice, inProject } from "../shapes/selectors.ts";
import { DeviceSummary, RecordingLocation } from "../shapes/summaries.ts";
import { Id, StorableText, UniqueKey } from "../shapes/text.ts";
import { TimeBound, Timestamp } from "../shapes/time.ts";

/** Unique among the sessions of a project. */
export const SessionKey = UniqueKey;
const RecordingIds = z.array(Id).max(2000);

export const Session = z
  .object({
    id: z.string(),
    projectId: z.string(),
    device: DeviceSummary,
    key: z.string().optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
    properties: PropertyValues.optional(),
    recordings: z.array(
      z.object({
        id: z.string(),
        path: z.string(),
        location: RecordingLocation.optional().meta({ description: "Only of files in a customer's own bucket" }),
        start: Timestamp,
        end: Timestamp,
      }),
    ),
  })
  .meta({ id: "Session" });
export type Session = z.infer<typeof Session>;

export const ListedSession = Session.extend({
  recordingCount: z.int().min(0),
  recordingStart: Timestamp.optional().meta({ description: "The earliest log time among the recordings" }),
  recordingEnd: Timestamp.optional().meta({ description: "The latest one" }),
}).meta({ id: "ListedSession" });
export type ListedSession = z.infer<typeof ListedSession>;

const sessionRef = {
  params: z.object({ keyOrId: Id.meta({ description: "A session's id or key; the id wins" }) }),
  query: z.object(inProject),
};

export const sessions = {
  list: operation({
    method: "get",
    path: "/v1/sessions",
    access: apiKey("sessions.list", "projects"),
    summary: "List sessions, with the count and span of their recordings",
    query: z.object({
      ...byDevice,
      keyMatches: StorableText.optional().meta({ description: "Part of the key, in any case" }),
      start: TimeBound.optional().meta({
        description: "Only sessions with a recording that ends at this time or after it",
      }),
      end: TimeBound.optional().meta({
        description: "Only sessions with a recording that starts at this time or before it",
      }),
      query: queryText("Terms on custom properties"),
      ...inProject,
      ...sorting("id", "createdAt", "updatedAt"),
      ...page,
    }),
    response: z.array(ListedSession),
  }),
  create: operation({
    method: "post",
    path: "/v1/sessions",
    unaudited: "Recording sessions are made and named by every upload",
    makes: { repeat: "answer", idField: "id" },
    access: apiKey("sessions.create", "projects"),
    summary: "Create a session, for a device or for recordings of one device",
    description:
      "The recordings share one device and project, and belong to no other session: 409 names the one to remove a recording from first.",
    body: z
      .object({
        ...byDevice,
        key: SessionKey.optional(),
        recordingIds: RecordingIds.optional(),
        properties: PropertyChanges.optional(),
        ...inProject,
      })
      .refine(
        (body) => Boolean(body.deviceId || body.deviceName || body.recordingIds?.length),
        "deviceId, deviceName or recordingIds is required",
      ),
    response: Session,
  }),
  get: operation({
    method: "get",
    path: "/v1/sessions/{keyOrId}",
    access: apiKey("sessions.list", "projects"),
    summary: "Get a session by id or key",
    ...sessionRef,
    response: Session,
  }),
  update: operation({
    method: "patch",
    path: "/v1/sessions/{keyOrId}",
    unaudited: "Recording sessions are made and named by every upload",
    access: apiKey("sessions.update", "projects"),
    summary: "Update a session: key, properties, and which recordings belong to it",
    description:
      "All or nothing. Adding a recording that the session has, or removing one that it has not, changes nothing; adding one of another session is 409.",
    ...sessionRef,
    body: z.object({
      key: SessionKey.nullable().optional().meta({ description: "Null clears it" }),
      addRecordingIds: RecordingIds.optional(),
      removeRecordingIds: RecordingIds.optional(),
      properties: PropertyChanges.optional(),
    }),
    response: Session,
  }),
  delete: operation({
    method: "delete",
    path: "/v1/sessions/{keyOrId}",
    audits: "recordingSession",
    access: apiKey("sessions.delete", "projects"),
    summary: "Delete a session and unlink its recordings, whose data stays",
    ...sessionRef,
    response: z.object({ id: z.string() }),
  }),
};
