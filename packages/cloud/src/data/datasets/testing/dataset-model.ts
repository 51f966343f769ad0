/** The state of an episode in a version. */
interface ModelMember {
  readonly addedIn: number;
  /** The number of the edit that added it. */
  readonly edit: number;
}

type Members = ReadonlyMap<string, ModelMember>;

/** A dataset as plain maps, one for each version: the service must behave like this model. spec: States and transitions */
export interface DatasetModel {
  readonly committed: Members[];
  editable: Members;
  edits: number;
}

export function emptyDataset(): DatasetModel {
  return { committed: [], editable: new Map(), edits: 0 };
}

export function editableVersion({ committed }: DatasetModel): number {
  return committed.length + 1;
}

/** Returns the members of a version; version 0 has none. */
export function membersOf(dataset: DatasetModel, versionNumber: number): Members {
  if (versionNumber === editableVersion(dataset)) return dataset.editable;
  return dataset.committed[versionNumber - 1] ?? new Map();
}

/** Returns the changes of a version against another one. */
export function changesOf(dataset: DatasetModel, versionNumber: number, base = versionNumber - 1) {
  const [members, before] = [membersOf(dataset, versionNumber), membersOf(dataset, base)];
  return { added: without(members, before), removed: without(before, members) };
}

export function countStaged(dataset: DatasetModel): { discardedAdds: number; discardedRemoves: number } {
  const { added, removed } = changesOf(dataset, editableVersion(dataset));
  return { discardedAdds: added.length, discardedRemoves: removed.length };
}

/** Applies an edit; no id is in both lists. Taking back a staged removal leaves the member as it was. */
export function edit(dataset: DatasetModel, add: readonly string[], remove: readonly string[]) {
  const { editable: before } = dataset;
  const committed = membersOf(dataset, dataset.committed.length);
  const next = new Map(before);
  dataset.edits += 1;
  const member = { addedIn: editableVersion(dataset), edit: dataset.edits };
  for (const id of add) if (!next.has(id)) next.set(id, committed.get(id) ?? member);
  for (const id of remove) next.delete(id);
  dataset.editable = next;
  const added = without(next, before).length;
  return { added, removed: without(before, next).length, alreadyPresent: add.length - added };
}

export function commit(dataset: DatasetModel): void {
  dataset.committed.push(dataset.editable);
}

export function discard(dataset: DatasetModel): ReturnType<typeof countStaged> {
  const discarded = countStaged(dataset);
  dataset.editable = membersOf(dataset, dataset.committed.length);
  return discarded;
}

export function restore(dataset: DatasetModel, versionNumber: number) {
  const discarded = discard(dataset);
  const wanted = membersOf(dataset, versionNumber);
  const { added, removed } = edit(dataset, without(wanted, dataset.editable), without(dataset.editable, wanted));
  return { added, removed, ...discarded };
}

function without(one: Members, other: Members): string[] {
  return [...one.keys()].filter((id) => !other.has(id));
}
