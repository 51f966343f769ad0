import { useState } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import type { ChosenTopics } from "../parts/choose-topics.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { SpanFields } from "../parts/span-fields.tsx";
import { TopicChoice } from "../parts/topic-choice.tsx";
import { formatExact, zoneName } from "../time/format-time.ts";
import { readSpan } from "../time/read-span.ts";
import { zone } from "../time/zone.ts";
import { describeEstimate, describeOthers, sumEstimates } from "./describe-estimate.ts";
import { type KnownWhole, namesOf, type Wanted, type Whole } from "./plan-parts.ts";
import { useAsking } from "./use-asking.ts";
import { type Estimated, useEstimate, useKnownTopics } from "./use-estimate.ts";

interface CutDialogProps {
  readonly projectId: string;
  /** The recordings that only devices have. */
  readonly wholes: readonly Whole[];
  /** The span that is offered first. */
  readonly span: Wanted["span"];
  /** Says what else is to be known before it is asked for. */
  readonly note?: string;
  readonly onClose: () => void;
  readonly onAsked?: (() => void) | undefined;
}

/** Asks devices for a part of their recordings: some topics, some time. It says before how much that is. */
export function CutDialog({ projectId, wholes, span, note = "", onClose, onAsked }: CutDialogProps) {
  const topics = useKnownTopics(projectId, wholes);
  const asking = useAsking({ projectId, note, onClose, onAsked });
  if (asking.waits.length > 0)
    return (
      <Dialog title="The part was requested, and waits" onClose={onClose}>
        {asking.waits.map((text) => (
          <p key={text}>{showHidden(text)}</p>
        ))}
        <div class="dialog-actions">
          <Button text="Close" class="primary" onClick={onClose} />
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Import a part" onClose={onClose} isWide>
      <div class="stack">
        {topics.isLoading && !topics.data && <ProgressLine isOn />}
        {topics.failure && <Failed failure={topics.failure} again={topics.again} />}
        {topics.data && <Form {...{ projectId, span, note, asking, onClose }} known={topics.data} />}
      </div>
    </Dialog>
  );
}

interface FormProps extends Required<Pick<CutDialogProps, "projectId" | "span" | "note" | "onClose">> {
  readonly known: readonly KnownWhole[];
  readonly asking: ReturnType<typeof useAsking>;
}

function Form({ projectId, span, note, known, asking, onClose }: FormProps) {
  const [chosen, setChosen] = useState<ChosenTopics>();
  const [typed, setTyped] = useState({ from: formatExact(span.startNs), to: formatExact(span.endNs) });
  const read = readSpan(typed, { zone: zoneName(zone.value), nowMs: Date.now() });
  const names = namesOf(known.flatMap(({ topics }) => topics)).sort();
  const unknown = known.filter(({ topics }) => topics.length === 0).length;
  const wanted = read.span && { topics: chosen, span: read.span };
  const estimated = useEstimate({ projectId, known, wanted });
  const { parts, estimates } = estimated;
  const isWorth = estimates !== undefined && sumEstimates(parts, estimates).messageCount > 0;
  return (
    <>
      {names.length > 0 && <TopicChoice {...{ names, chosen }} onChange={setChosen} />}
      <SpanFields {...{ typed }} problems={read.problems} onChange={(changed) => setTyped({ ...typed, ...changed })} />
      {wanted && chosen?.size !== 0 && <Estimate {...{ estimated }} others={describeOthers(parts, unknown)} />}
      {note && <p class="muted">{note}</p>}
      {asking.failure && <Failed failure={asking.failure} />}
      <div class="dialog-actions">
        <Button text="Cancel" onClick={onClose} />
        <Button
          text={asking.progress ? nameProgress(asking.progress) : "Import this part"}
          class="primary"
          disabled={!isWorth || asking.progress !== undefined}
          onClick={() => void asking.ask(parts)}
        />
      </div>
    </>
  );
}

function nameProgress({ done, of }: { done: number; of: number }): string {
  return of > 1 ? `Asking… ${formatCount(done)} of ${formatCount(of)}` : "Asking…";
}

/** A screen reader reads the sentence again when it changes. */
function Estimate({ estimated, others }: { estimated: Estimated; others: string }) {
  const { parts, estimates, failure, again } = estimated;
  if (failure) return <Failed {...{ failure, again }} />;
  return (
    <div role="status">
      <p>
        {parts.length > 0 && !estimates && "Estimating…"}
        {parts.length > 0 && estimates && describeEstimate(parts, sumEstimates(parts, estimates))}
        {parts.length === 0 && "No recording has a message of these topics in this time."}
      </p>
      {others && <p class="muted">{others}</p>}
    </div>
  );
}
