import { z } from "zod";

/** Where bytes lie in the object of a recording's thumbnails. */
const Slice = z.object({ offset: z.number(), sizeBytes: z.number() });
export type Slice = z.infer<typeof Slice>;

/** The pictures of a topic, as a row has them. */
export const StoredTopics = z.array(
  z.object({
    topic: z.string(),
    /** The sizes of one picture, in pixels. */
    width: z.number(),
    height: z.number(),
    timesNs: z.array(z.string()),
    /** All of them side by side. */
    strip: Slice,
    /** The one in the middle. */
    single: Slice,
  }),
);
export type StoredTopic = z.infer<typeof StoredTopics>[number];

/** The track, as a row has it: a GeoJSON file in the same object. */
export const StoredTrack = z.object({ topic: z.string(), count: z.number(), file: Slice });
