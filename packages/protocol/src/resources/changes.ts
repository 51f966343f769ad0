import { z } from "zod";
import { anyPerson, operation } from "../operations/operation.ts";
import { queryInteger } from "../shapes/query.ts";
import { inProject } from "../shapes/selectors.ts";
import { StorableText } from "../shapes/text.ts";

/** The most changes of one answer; a client that has missed more must read everything again. */
export const MAX_CHANGES = 1000;
/** The longest that a call waits for changes. */
export const MAX_CHANGES_WAIT_SECONDS = 25;
/** So many calls of one caller may wait at one process at the same time. */
export const MAX_WAITING_CHANGES = 8;

/** The kinds of things that changes are about; who may not list a kind hears of none of it. */
export const changeKinds = ["recording", "session", "device", "event", "dataset"] as const;

export const Changes = z
  .object({
    changes: z.array(
      z.object({
        kind: z.enum(changeKinds),
        id: z.string(),
        projectId: z.string(),
        deviceId: z.string().optional().meta({ description: "Where the event says so" }),
      }),
    ),
    next: z.string().meta({ description: "The `since` of the next call" }),
    isMissed: z.boolean().meta({
      description: `Changes were missed: more than ${MAX_CHANGES}, or \`since\` is of another database; read what is shown again`,
    }),
  })
  .meta({ id: "Changes" });
export type Changes = z.infer<typeof Changes>;

/**
 * `GET /v1/changes` with `Accept: text/event-stream` streams the same answers as server-sent events, each with its `next` as the id, by
 * which `Last-Event-ID` resumes; a stream ends after ten minutes, and the browser opens another one by itself.
 */
export const changes = {
  list: operation({
    method: "get",
    path: "/v1/changes",
    access: anyPerson(),
    summary: "Tell what has changed since a call before, or wait for it",
    description: [
      "Only of what events are published for, and only what it is about: read it to know what changed. Repeats within a second are one.",
      "Without `since` the answer is at once, with no changes: read what is to be shown after that, and then ask with its `next`.",
      "`Accept: text/event-stream` streams such answers instead, and `Last-Event-ID` is then the `since`.",
    ].join(" "),
    query: z.object({
      since: StorableText.max(100).optional(),
      waitSeconds: queryInteger({ min: 0, max: MAX_CHANGES_WAIT_SECONDS }).default(0).meta({
        description: "How long to wait where nothing has changed yet",
      }),
      ...inProject,
    }),
    response: Changes,
    streamsEvents: true,
  }),
};
