import { z } from "zod";
import { StorableText } from "../shapes/text.ts";

/** The most features of a mapping. */
const MAX_FEATURES = 200;
/** The most topics of a mapping. */
export const MAX_MAPPING_TOPICS = 200;
/** The most parts of a feature. */
const MAX_PARTS = 64;
/** The most values that one part selects. */
const MAX_SELECTED = 4096;
/** The most milliseconds by which a clock is corrected. */
const MAX_OFFSET_MS = 86_400_000;

const FieldPath = StorableText.min(1).max(500).meta({
  description: "The names on the way to a field, with points between them",
  example: "pose.position",
});

const StampSource = z
  .union([z.enum(["log", "publish", "header"]), z.strictObject({ field: FieldPath })])
  .meta({ description: "The time of a message; absent: `log`. `header` is `header.stamp`, or else `timestamp`" });

/** A part of a feature: values of one topic. */
const FeaturePart = z.strictObject({
  topic: StorableText.min(1).max(1000),
  field: FieldPath.optional().meta({ description: "Absent: the message itself; for an image, the message too" }),
  select: z
    .array(z.int().min(0))
    .min(1)
    .max(MAX_SELECTED)
    .optional()
    .meta({ description: "Which values, by their place from 0" }),
  byName: z
    .strictObject({ names: FieldPath, select: z.array(StorableText).min(1).max(MAX_SELECTED) })
    .optional()
    .meta({ description: "Which values, by the names that another field of the message gives them" }),
  align: z.enum(["hold", "nearest", "interpolate"]).optional().meta({
    description:
      "`hold`, which is meant where it is absent: the latest value at or before the row; `nearest`: the nearest, of two that are equally near the earlier one; `interpolate`: between both neighbours, which are at most `maxGapMs` apart",
  }),
  quaternion: z
    .enum(["xyzw", "wxyz"])
    .optional()
    .meta({ description: "The four values are a rotation, which is interpolated on the shorter arc" }),
  stamp: StampSource.optional().meta({ description: "Absent: as the mapping says" }),
  offsetMs: z
    .number()
    .min(-MAX_OFFSET_MS)
    .max(MAX_OFFSET_MS)
    .optional()
    .meta({ description: "Added to its times, for clocks that differ; absent: 0" }),
});
export type FeaturePart = z.infer<typeof FeaturePart>;

/** Names that the format takes for itself. */
const TAKEN: readonly string[] = ["timestamp", "frame_index", "episode_index", "index", "task_index", "task"];

const FeatureName = StorableText.min(1)
  .max(200)
  .regex(/^[a-zA-Z][\w.-]*$/, "must be a letter, and then letters, digits, points, hyphens and underscores")
  .refine((name) => !TAKEN.includes(name), `must be none of ${TAKEN.join(", ")}, which the format takes for itself`);

/** A row has one value of these. */
function isSingle(dtype: string): boolean {
  return dtype === "image" || dtype === "string";
}

/** Returns the fields of a part that cannot be together, with the reason. */
function refusePart(dtype: string, { align, select, byName, quaternion }: FeaturePart): [string, string][] {
  const isBetween = align === "interpolate";
  const isChosen = select !== undefined || byName !== undefined;
  const refusals: [string, string, boolean][] = [
    ["align", "must be hold or nearest, unless the dtype is a float", isBetween && !dtype.startsWith("float")],
    ["quaternion", "must be left out, unless align is interpolate", quaternion !== undefined && !isBetween],
    ["select", "must be left out where byName is there", select !== undefined && byName !== undefined],
    [select ? "select" : "byName", "must be left out for an image", dtype === "image" && isChosen],
  ];
  return refusals.flatMap(([field, message, isRefused]) => (isRefused ? [[field, message]] : []));
}

const Feature = z
  .strictObject({
    dtype: z.enum(["float32", "float64", "int64", "bool", "string", "image"]),
    shiftRows: z.int().min(0).max(1000).optional().meta({
      description: "Takes the value of so many rows later, so that an action can be what is measured next; absent: 0",
    }),
    allowNaN: z.boolean().optional().meta({ description: "True: values that are no finite number are no error" }),
    parts: z.array(FeaturePart).min(1).max(MAX_PARTS).meta({ description: "Their values follow each other" }),
  })
  .superRefine(({ dtype, parts }, refusal) => {
    if (isSingle(dtype) && parts.length > 1)
      refusal.addIssue({ code: "custom", path: ["parts"], message: `must be one part for the dtype ${dtype}` });
    for (const [place, part] of parts.entries())
      for (const [field, message] of refusePart(dtype, part))
        refusal.addIssue({ code: "custom", path: ["parts", place, field], message });
  });
export type Feature = z.infer<typeof Feature>;

/** How the topics of a dataset's episodes become the rows of a training set. */
export const TrainingMapping = z
  .strictObject({
    topics: z
      .array(StorableText.min(1).max(1000))
      .min(1)
      .max(MAX_MAPPING_TOPICS)
      .refine((topics) => new Set(topics).size === topics.length, "must be names that differ")
      .optional()
      .meta({ description: "Their messages are in a set of the format `parquet`" }),
    fps: z.int().min(1).max(1000).optional().meta({ description: "Rows a second; required with `features`" }),
    clock: z
      .union([z.strictObject({ grid: z.literal(true) }), z.strictObject({ topic: StorableText.min(1).max(1000) })])
      .optional()
      .meta({
        description:
          "`grid`, also where it is absent: rows at equal distances; `topic`: a row for each message of that topic",
      }),
    stamp: StampSource.optional(),
    task: z
      .union([
        z.strictObject({ text: StorableText.max(1000) }),
        z.strictObject({ metadata: StorableText.min(1).max(200) }),
        z.strictObject({ topic: StorableText.min(1).max(1000), field: FieldPath }),
      ])
      .optional()
      .meta({
        description:
          "The task of an episode: a text, a field of its metadata, or the first value of a topic in it; absent: the field `task` of its metadata",
      }),
    maxGapMs: z
      .number()
      .min(0)
      .max(3_600_000)
      .optional()
      .meta({ description: "The oldest that a value of a row may be; absent: 100" }),
    onGap: z.enum(["fail", "dropEpisode", "splitEpisode"]).optional().meta({
      description:
        "The treatment of rows inside an episode that have no value; at its edges they are left out; absent: `fail`",
    }),
    minFrames: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .meta({ description: "Shorter episodes are left out; absent: 30" }),
    robotType: StorableText.min(1).max(200).optional(),
    features: z
      .record(FeatureName, Feature)
      .refine((features) => Object.keys(features).length > 0, "must name at least one feature")
      .refine((features) => Object.keys(features).length <= MAX_FEATURES, `must name at most ${MAX_FEATURES} features`)
      .optional()
      .meta({ description: "They are the columns of a set of the format `lerobot-v3`" }),
  })
  .superRefine(({ topics, fps, features }, refusal) => {
    if (features && fps === undefined)
      refusal.addIssue({ code: "custom", path: ["fps"], message: "must be there where features are" });
    if (!features && !topics)
      refusal.addIssue({ code: "custom", path: ["features"], message: "must be there where topics are not" });
  })
  .meta({
    id: "TrainingMapping",
    example: {
      fps: 30,
      features: {
        "observation.state": { dtype: "float32", parts: [{ topic: "/joint_states", field: "position" }] },
        action: { dtype: "float32", shiftRows: 1, parts: [{ topic: "/joint_states", field: "position" }] },
        "observation.images.front": { dtype: "image", parts: [{ topic: "/camera/front", align: "nearest" }] },
      },
    },
  });
export type TrainingMapping = z.infer<typeof TrainingMapping>;
