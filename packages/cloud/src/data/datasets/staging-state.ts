// Staged changes may be taken back in part: removing an episode that is staged to be added leaves nothing, and adding one that is staged to
// be removed leaves the member with its `addedAt`. A commit without effect is 409. Unknown episodes are 404 in `remove` too.

/**
 * The state of an episode in the editable version: as in the last committed version, or with a staged change. spec: States and transitions
 *
 * not in the committed version               in the committed version
 *
 * ┌────────┐  add: stageAdd    ┌───────┐     ┌────────┐  remove: stageRemoval  ┌─────────┐
 * │ absent │ ────────────────▶ │ added │     │ member │ ─────────────────────▶ │ removed │
 * └────────┘ ◀──────────────── └───────┘     └────────┘ ◀───────────────────── └─────────┘
 * remove: unstageAdd                          add: unstageRemoval
 *
 * Nothing else changes a state. A discard takes every staged change back; a commit makes `added` a member and `removed` absent.
 */
export type StagingState = "absent" | "added" | "member" | "removed";

export interface Edit {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

const steps = ["stageAdd", "unstageAdd", "stageRemoval", "unstageRemoval"] as const;
type Step = (typeof steps)[number];

const transitions: Record<StagingState, Record<keyof Edit, Step | undefined>> = {
  absent: { add: "stageAdd", remove: undefined },
  added: { add: undefined, remove: "unstageAdd" },
  member: { add: undefined, remove: "stageRemoval" },
  removed: { add: "unstageRemoval", remove: undefined },
};

/** The episodes of each step; no episode is in two steps. */
export type EditSteps = Readonly<Record<Step, readonly string[]>>;

export interface EditCounts {
  readonly added: number;
  readonly removed: number;
  readonly alreadyPresent: number;
}

/** Plans the steps of an edit. No id is in both of its lists; an id that is repeated in a list counts once. */
export function planEdit(
  stateOf: (episodeId: string) => StagingState,
  { add, remove }: Edit,
): { steps: EditSteps; counts: EditCounts } {
  const taken: Record<Step, string[]> = { stageAdd: [], unstageAdd: [], stageRemoval: [], unstageRemoval: [] };
  const take = (ids: readonly string[], action: keyof Edit) => {
    for (const id of new Set(ids)) {
      const step = transitions[stateOf(id)][action];
      if (step) taken[step].push(id);
    }
  };
  take(add, "add");
  take(remove, "remove");
  const added = taken.stageAdd.length + taken.unstageRemoval.length;
  const removed = taken.unstageAdd.length + taken.stageRemoval.length;
  return { steps: taken, counts: { added, removed, alreadyPresent: add.length - added } };
}
