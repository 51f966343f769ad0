import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { lazyPart } from "../frame/lazy-part.ts";
import { formatExact } from "../time/format-time.ts";

/** The dialog is loaded when it is opened. */
const EventDialog = lazyPart(() => import("./event-dialog.tsx").then((part) => part.EventDialog));

interface Drawn {
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** The names of the devices, each of which gets an event. */
  readonly devices: readonly string[];
}

export interface Marking {
  /** Opens the dialog; absent where the user may mark none. */
  readonly mark: ((drawn: Drawn) => void) | undefined;
  readonly dialog: VNode | undefined;
}

/** Marks an event of a time that the user chose on the page, which stays as it is below the dialog. */
export function useMarking(projectId: string): Marking {
  const { data: me } = useMe();
  const [drawn, setDrawn] = useState<Drawn | undefined>();
  const texts = drawn && [formatExact(drawn.startNs), formatExact(drawn.endNs), ...drawn.devices];
  return {
    mark: may(me, "events.create") ? setDrawn : undefined,
    dialog: texts && <EventDialog {...{ projectId, drawn: texts, onClose: () => setDrawn(undefined) }} />,
  };
}
