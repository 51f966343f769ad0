import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Say } from "./finding.ts";

/** The facts of `meta/info.json`. */
export interface SetInfo {
  readonly fps: number;
  readonly features: Readonly<Record<string, { readonly dtype: string }>>;
  readonly totals: Readonly<Record<"episodes" | "frames" | "tasks", unknown>>;
  /** Returns the path of a file with rows. */
  readonly dataPath: (chunk: number, file: number) => string;
  readonly videoPath: (key: string, chunk: number, file: number) => string;
}

/** Features that each set has. source: lerobot, DEFAULT_FEATURES */
export const ownFeatures = ["timestamp", "frame_index", "episode_index", "index", "task_index"] as const;

const PATH = "meta/info.json";

/** Returns undefined where nothing else can be checked. */
export async function readInfo(folder: string, say: Say): Promise<SetInfo | undefined> {
  const info = await readJson(folder, PATH, say);
  if (!isRecord(info)) return undefined;
  const { codebase_version: version, fps, features, data_path: data, video_path: video } = info;
  if (!/^v3\./.test(String(version))) return void say("metadata", `${PATH} is of the version ${version}, and not v3.0`);
  if (typeof fps !== "number" || !(fps > 0)) return void say("metadata", `${PATH} has no rate in fps`);
  if (typeof data !== "string") return void say("metadata", `${PATH} has no data_path`);
  if (!isRecord(features) || !Object.values(features).every((one) => isRecord(one) && typeof one.dtype === "string"))
    return void say("metadata", `${PATH} has no features with their dtypes`);
  for (const name of ownFeatures)
    if (!features[name]) say("columns", `${PATH} does not have the feature ${name}, which each set has`);
  return {
    fps,
    features: features as SetInfo["features"],
    totals: { episodes: info.total_episodes, frames: info.total_frames, tasks: info.total_tasks },
    dataPath: (chunk, file) => fillIn(data, { chunk_index: chunk, file_index: file }),
    videoPath: (key, chunk, file) => fillIn(String(video), { video_key: key, chunk_index: chunk, file_index: file }),
  };
}

/** Reads an object in JSON; undefined where there is none, which is a finding. */
export async function readJson(folder: string, path: string, say: Say): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(join(folder, path), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
  });
  if (text === undefined) return void say("files", `${path} is missing`);
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  say("metadata", `${path} is no object in JSON`);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Fills in fields of a path as Python does, such as `{chunk_index:03d}`. */
function fillIn(template: string, values: Readonly<Record<string, string | number>>): string {
  return template.replaceAll(/\{(\w+)(?::0(\d+)d)?\}/g, (field, name, width) =>
    String(values[name] ?? field).padStart(Number(width ?? 0), "0"),
  );
}
