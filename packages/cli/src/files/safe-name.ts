import { basename } from "node:path";

/** Returns the service's name for a file, never as a path. */
export function safeName(name: string): string {
  return (
    basename(name)
      .replaceAll(/[^\w.@+=,-]/g, "_")
      .replace(/^[.-]/, "_") || "recording"
  );
}
