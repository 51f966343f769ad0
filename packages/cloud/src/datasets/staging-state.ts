// Staged changes may be taken back in part: removing what is staged to be added leaves nothing, adding what is
// staged to be removed leaves the member with its `addedAt`; a commit of what came to nothing is 409. Unknown
// episodes are 404 in `remove` too.

/**
 * An episode in the editable version: as the last committed version has it, or with a staged change. spec: States and transitions
 *
 *     not in the committed version               in the committed version
 *
 *      ┌────────┐  add: stageAdd    ┌───────┐     ┌────────┐  remove: stageRemoval  ┌─────────┐
 *      │ absent │ ────────────────▶ │ added │     │ member │ ─────────────────────▶ │ removed │
 *      └────────┘ ◀──────────────── └───────┘     └────────┘ ◀───────────────────── └─────────┘
 *                remove: unstageAdd                          add: unstageRemoval
 *
 * All else changes nothing. A discard takes every staged change back; a commit makes `added` a member and `removed` absent.
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

/** The episodes that take each step; none takes two. */
export type EditSteps = Readonly<Record<Step, readonly string[]>>;

export interface EditCounts {
  readonly added: number;
  readonly removed: number;
  readonly alreadyPresent: number;
}

/** What an edit comes to. No id is in both of its lists; one that stands in a list repeatedly counts there once. */
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
