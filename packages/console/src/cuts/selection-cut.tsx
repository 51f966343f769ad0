import { type Recording, recordings } from "@downlink/protocol";
import { useRef } from "preact/hooks";
import { useQuery } from "../api/use-query.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { CutDialog } from "./cut-dialog.tsx";
import type { Wanted } from "./plan-parts.ts";

/** The most recordings of which a part is asked for at once: each takes a call for its topics, one for its estimate, and one for the part. */
const MOST = 20;

interface SelectionCutProps {
  readonly projectId: string;
  readonly deviceIds: readonly string[];
  readonly span: Wanted["span"];
  readonly note: string;
  readonly onClose: () => void;
  readonly onAsked: () => void;
}

/** Asks for a part of all recordings of a selection that are on devices only. */
export function SelectionCut({ projectId, deviceIds, span, ...others }: SelectionCutProps) {
  const found = useQuery(recordings.list, {
    projectId,
    deviceIds: [...deviceIds],
    start: span.startNs,
    end: span.endNs,
    importStatus: ["none"],
    sortBy: "start",
    sortOrder: "asc",
    limit: MOST + 1,
  });
  const first = useRef<readonly Recording[]>(undefined);
  // A change of the list meanwhile does not take the form away.
  if (!found.isOld) first.current ??= found.data;
  const isMore = first.current !== undefined && first.current.length > MOST;
  const wholes = first.current?.filter(({ cutOf }) => !cutOf);
  if (wholes && wholes.length > 0 && !isMore) return <CutDialog {...{ projectId, wholes, span, ...others }} />;
  return (
    <Dialog title="Import a part" onClose={others.onClose}>
      <ProgressLine isOn={found.isLoading} />
      {found.failure && <Failed failure={found.failure} again={found.again} />}
      {wholes?.length === 0 && <p>No recording of the selection is on a device only any more.</p>}
      {isMore && (
        <p>
          More than {MOST} recordings of the selection are on devices only. A part is asked for of at most {MOST} at a
          time: select less time, or fewer devices.
        </p>
      )}
    </Dialog>
  );
}
