import type { DatasetVersion } from "@downlink/protocol";

/** Returns the version that is being edited: the one with the highest number, which may have no staged change. */
export function editableOf(versions: readonly DatasetVersion[]): DatasetVersion | undefined {
  return versions.find(({ committedAt }) => committedAt === undefined);
}

/** Returns the version that a page shows by default: the latest committed version, or the editable one while there is none. */
export function usualVersion(versions: readonly DatasetVersion[]): DatasetVersion | undefined {
  const committed = versions.filter(({ committedAt }) => committedAt !== undefined);
  return committed.toSorted((one, other) => other.versionNumber - one.versionNumber)[0] ?? editableOf(versions);
}

export function hasStagedChanges(version: DatasetVersion | undefined): boolean {
  return version !== undefined && version.addedEpisodeCount + version.removedEpisodeCount > 0;
}

/** Names a version: `version 3`, `version 4, being edited: +12 −3`. */
export function nameVersion({
  versionNumber,
  committedAt,
  addedEpisodeCount,
  removedEpisodeCount,
}: DatasetVersion): string {
  if (committedAt !== undefined) return `version ${versionNumber}`;
  return `version ${versionNumber}, being edited: +${addedEpisodeCount} −${removedEpisodeCount}`;
}

/** Names a version in a comparison: `version 3`, or `the staged changes on version 3` for what is not committed. */
export function nameCompared({ versionNumber, committedAt }: DatasetVersion): string {
  if (committedAt !== undefined) return `version ${versionNumber}`;
  return versionNumber > 1 ? `the staged changes on version ${versionNumber - 1}` : "the staged changes";
}
