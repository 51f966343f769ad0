import type { UploadModel } from "../db/generated/models.ts";
import { states } from "../db/generated/states.ts";

/**
 * The life of one upload, which is one attempt to bring the bytes of a request into the store.
 *
 *   ┌──────┐  store   ┌────────┐
 *   │ open │ ───────▶ │ stored │
 *   └──────┘          └────────┘
 *    │    │ abandon,   │      │
 *    │    │ redeliver  │ redeliver
 *    │    ▼            ▼      │
 *    │  ┌────────────────┐    │
 *    │  │ abandoned      │    │
 *    │  └────────────────┘    │
 *    ▼          ▼ remove      ▼
 *   ┌──────────────────────────┐
 *   │ removed                  │
 *   └──────────────────────────┘
 *
 * `remove` follows once the store holds nothing of it any more. The sweep removes a stored one whose recording is gone.
 */
export type UploadState = UploadModel["state"];
export type UploadEvent = "store" | "abandon" | "redeliver" | "remove";

/** The event does not apply in this state. */
const no = undefined;

const transitions: Record<UploadState, Record<UploadEvent, UploadState | typeof no>> = {
  open: { store: "stored", abandon: "abandoned", redeliver: "abandoned", remove: "removed" },
  stored: { store: no, abandon: no, redeliver: "abandoned", remove: "removed" },
  abandoned: { store: no, abandon: no, redeliver: no, remove: "removed" },
  removed: { store: no, abandon: no, redeliver: no, remove: no },
};

/** Returns the state after an event, or undefined if the event does not apply in this state. */
export function nextUploadState(state: UploadState, event: UploadEvent): UploadState | undefined {
  return transitions[state][event];
}

/** Returns the states in which an event applies: the left side of a compare-and-set. */
export function uploadStatesBefore(event: UploadEvent): UploadState[] {
  return states.Upload.state.filter((state) => nextUploadState(state, event) !== undefined);
}
