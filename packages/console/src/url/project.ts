import { useLocation } from "preact-iso";
import { keep, readKept } from "../browser/kept.ts";

/** Returns the project that the address names. Pages outside of `/p/` have none. */
export function useProjectId(): string | undefined {
  return projectOf(useLocation().path);
}

export function projectOf(path: string): string | undefined {
  const [, id] = /^\/p\/([^/]+)/.exec(path) ?? [];
  if (id === undefined) return undefined;
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // a percent sign that was typed
  }
}

/** Returns the address of a page of a project: `pagePath("prj_1", "recordings", "rec_2")`. */
export function pagePath(projectId: string, ...segments: readonly string[]): string {
  return `/p/${[projectId, ...segments].map(encodeURIComponent).join("/")}`;
}

/** The project that was looked at last is the one that the bare address leads to. */
export function rememberProject(id: string): void {
  keep("project", id);
}

export function rememberedProject(): string | undefined {
  return readKept("project");
}
