import type { SchemaElement } from "hyparquet";
import type { AlignedEpisode } from "../align/align-episode.ts";
import type { Plan, PlannedFeature } from "../align/plan.ts";
import { TrainingError } from "../episodes/episode.ts";
import { listOf, scalarOf } from "../parquet/parquet-file.ts";

/** A feature as `meta/info.json` names it. */
export interface FeatureInfo {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly names: readonly string[] | null;
}

/** Columns that each set has, in their order. source: lerobot, DEFAULT_FEATURES */
export const ownFeatures: Readonly<Record<string, FeatureInfo>> = {
  timestamp: { dtype: "float32", shape: [1], names: null },
  frame_index: { dtype: "int64", shape: [1], names: null },
  episode_index: { dtype: "int64", shape: [1], names: null },
  index: { dtype: "int64", shape: [1], names: null },
  task_index: { dtype: "int64", shape: [1], names: null },
};

/** Returns the shapes that an episode's messages give the features. Throws {@link TrainingError} where a feature would have no value. */
export function describeFeatures(plan: Plan, aligned: AlignedEpisode): Record<string, FeatureInfo> {
  return Object.fromEntries(plan.features.map((feature) => [feature.name, describeFeature(feature, aligned)]));
}

function describeFeature({ dtype, parts, name }: PlannedFeature, { collected }: AlignedEpisode): FeatureInfo {
  const facts = parts.map((part) => collected.series.get(part)!.facts);
  if (dtype === "image") return { dtype, shape: facts[0]!.shape, names: ["height", "width", "channels"] };
  const width = facts.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
  if (width === 0) throw new TrainingError(`the feature ${name} has no values`);
  if (dtype === "string" && width > 1)
    throw new TrainingError(`the feature ${name} has ${width} texts, and may have one`);
  return { dtype, shape: [width], names: facts.flatMap(({ names }) => names) };
}

/** Throws {@link TrainingError} unless an episode has the features of those before it. */
export function requireSame(
  features: Record<string, FeatureInfo>,
  others: Record<string, FeatureInfo>,
  id: string,
): void {
  for (const [name, { shape }] of Object.entries(features)) {
    const other = others[name]!.shape;
    if (shape.join() === other.join()) continue;
    const [was, is] = [shape, other].map((sizes) => sizes.join(" × "));
    throw new TrainingError(`the feature ${name} has ${is} values in the episode ${id}, and ${was} in those before it`);
  }
}

const physical = {
  float32: "FLOAT",
  float64: "DOUBLE",
  int64: "INT64",
  bool: "BOOLEAN",
  string: "BYTE_ARRAY",
} as const;

/** Returns the elements of a feature's column. */
export function columnOf(name: string, { dtype, shape }: FeatureInfo): SchemaElement[] {
  if (dtype === "image")
    return [
      { name, repetition_type: "OPTIONAL", num_children: 2 },
      ...scalarOf("bytes", "BYTE_ARRAY"),
      ...scalarOf("path", "BYTE_ARRAY", true),
    ];
  const type = physical[dtype as keyof typeof physical];
  const isText = dtype === "string";
  return shape[0] === 1 ? scalarOf(name, type, isText) : listOf(name, scalarOf("element", type, isText));
}
