import type { DatasetVersion } from "@downlink/protocol";

/** The version that is being edited is the one with the highest number; it may have no staged change. */
export function editableOf(versions: readonly DatasetVersion[]): DatasetVersion | undefined {
  return versions.find(({ committedAt }) => committedAt === undefined);
}

/** What a page shows without being asked for another: the latest committed version, or the editable one while there is none. */
export function usualVersion(versions: readonly DatasetVersion[]): DatasetVersion | undefined {
  const committed = versions.filter(({ committedAt }) => committedAt !== undefined);
  return committed.toSorted((one, other) => other.versionNumber - one.versionNumber)[0] ?? editableOf(versions);
}

export function hasStagedChanges(version: DatasetVersion | undefined): boolean {
  return version !== undefined && version.addedEpisodeCount + version.removedEpisodeCount > 0;
}

/** `version 3`, `version 4, being edited: +12 −3`. */
export function nameVersion({
  versionNumber,
  committedAt,
  addedEpisodeCount,
  removedEpisodeCount,
}: DatasetVersion): string {
  if (committedAt !== undefined) return `version ${versionNumber}`;
  return `version ${versionNumber}, being edited: +${addedEpisodeCount} −${removedEpisodeCount}`;
}
