import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { QueryTexts } from "../shapes/query.ts";
import { inProject } from "../shapes/selectors.ts";
import { Id } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";

/** The most recordings whose thumbnails are listed by one call. */
export const MAX_THUMBNAIL_RECORDINGS = 100;
/** The most pictures of a topic, the most topics of a recording, and the most positions of its track. */
export const thumbnailCounts = { pictures: 12, topics: 4, positions: 500 } as const;

const thumbnailStates = ["pending", "ready", "none"] as const;

const Picture = {
  width: z.int().min(1).meta({ description: "The width of one picture, in pixels" }),
  height: z.int().min(1),
  link: Credential.meta({ description: "A JPEG; takes GET and HEAD, for an hour at least" }),
};

/** These operations go beyond the specification. */
export const thumbnails = {
  get: operation({
    method: "get",
    path: "/v1/recordings/{keyOrId}/thumbnails",
    access: apiKey("data.stream", "projects"),
    summary: "Get small pictures of what the cameras of a recording saw, and where the robot was",
    description: `They are made after the import, of ${thumbnailCounts.topics} topics at most, if the project's \`thumbnails\` is not \`none\`. Recordings in a customer's bucket have them if it is \`all\`, and those at a self-hosted site have none.`,
    params: z.object({ keyOrId: Id.meta({ description: "A recording's id or key" }) }),
    query: z.object(inProject),
    response: z.object({
      state: z.enum(thumbnailStates).meta({
        description: "`pending`: they are not made yet · `ready` · `none`: there are none",
      }),
      reason: z.string().optional().meta({ description: "Why there are none, or fewer than there could be" }),
      topics: z.array(
        z.object({
          topic: z.string(),
          times: z.array(Timestamp).meta({
            description:
              "The log times of its pictures, which lie side by side in the JPEG: the last one of each twelfth of the recording that has one, in which long gaps between its messages count as no time",
          }),
          ...Picture,
        }),
      ),
      track: z
        .object({
          topic: z.string(),
          count: z.int().min(1).max(thumbnailCounts.positions).meta({
            description: "How many positions it has, which are some of those of the recording where it has more",
          }),
          link: Credential.meta({
            description:
              "A GeoJSON feature: a line, or a point where there is one position only. `properties.coordinateProperties.times` has their log times. Takes GET and HEAD, for an hour at least",
          }),
        })
        .optional()
        .meta({
          description:
            "Where the robot was, by the first topic of `NavSatFix` or `LocationFix` that says so; absent where none does",
        }),
    }),
  }),
  list: operation({
    method: "get",
    path: "/v1/thumbnails",
    access: apiKey("data.stream", "projects"),
    summary: "Get one small picture of each of some recordings, of those that have one",
    query: z.object({
      recordingIds: QueryTexts.refine(
        (ids) => ids.length <= MAX_THUMBNAIL_RECORDINGS,
        `must be at most ${MAX_THUMBNAIL_RECORDINGS} ids`,
      ).meta({ description: "Ids of recordings; those that do not exist, or are not visible, are passed over" }),
    }),
    response: z.object({
      thumbnails: z.array(z.object({ recordingId: z.string(), topic: z.string(), time: Timestamp, ...Picture })),
    }),
  }),
};
