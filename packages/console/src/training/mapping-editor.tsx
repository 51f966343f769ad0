import type { Failure } from "../api/failure.ts";
import { may, useMe } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { Select } from "../parts/select.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import type { MappingFault } from "./mapping-text.ts";
import { DRAFT, type EditedMapping } from "./use-mapping.ts";

interface EditorProps {
  readonly mapping: EditedMapping;
  readonly isTrying: boolean;
  /** Why the last trial was refused. */
  readonly failure: Failure | undefined;
  readonly onTry: () => void;
}

/** Edits a mapping as a text, with its faults beside it. */
export function MappingEditor({ mapping, isTrying, failure, onTry }: EditorProps) {
  const { data: me } = useMe();
  const { text, faults, notes, kept, draft, isChanged } = mapping;
  const mayWork = may(me, "data.stream") || may(me, "datasets.update");
  const isEmpty = text === "" && (kept.isNew || draft.isRunning);
  return (
    <section class="card stack" aria-labelledby="mapping-title">
      <header class="row">
        <h2 id="mapping-title">Mapping</h2>
        <Choice mapping={mapping} />
        {isChanged && <span class="muted">changed</span>}
        <span class="grow" />
        {may(me, "data.stream") && (
          <div class="row">
            <Button text="Draft again" class="small" disabled={draft.isRunning} onClick={draft.run} />
            <Button text="Try" class="small" disabled={isTrying || !mapping.mapping} onClick={onTry} />
          </div>
        )}
      </header>
      <ProgressLine isOn={draft.isRunning || kept.isLoading} />
      <div class="mapping">
        <textarea
          class="mono"
          aria-labelledby="mapping-title"
          aria-describedby="mapping-remarks"
          aria-invalid={faults.length > 0 && !isEmpty}
          rows={Math.min(32, Math.max(14, text.split("\n").length + 1))}
          wrap="off"
          spellcheck={false}
          autoComplete="off"
          autoCapitalize="off"
          value={text}
          readOnly={isEmpty || draft.isRunning || !mayWork}
          placeholder={isEmpty ? "Looking at the topics of the episodes …" : ""}
          onInput={({ currentTarget }) => mapping.type(currentTarget.value)}
        />
        <div id="mapping-remarks">
          <Faults faults={isEmpty ? [] : faults} />
          <div class="stack">
            {kept.failure && <Failed failure={kept.failure} again={kept.again} />}
            {draft.failure && <Failed failure={draft.failure} again={draft.run} />}
            {failure && <Failed failure={failure} />}
            {notes.length > 0 && <Notes notes={notes} />}
            <p class="muted">
              A mapping says which topics become the features of a row, and how many rows a second there are. The guide
              describes <a href="/guide/guides/data/training#the-mapping">each of its fields</a>.
            </p>
          </div>
        </div>
      </div>
    </section>
  );
}

function Choice({ mapping: { kept, chosenId, choose } }: { mapping: EditedMapping }) {
  if (kept.rows.length === 0) return <span class="muted">a draft, not kept yet</span>;
  const named = kept.rows.map(({ id, name, revision }) => [id, `${name}, revision ${revision}`] as const);
  const choices = chosenId === DRAFT ? [[DRAFT, "a draft, not kept yet"] as const, ...named] : named;
  return <Select aria-label="Kept mapping" value={chosenId} choices={choices} onChange={choose} />;
}

function Faults({ faults }: { faults: readonly MappingFault[] }) {
  return (
    <div role="status">
      {faults.length > 0 && (
        <ul class="mapping-faults stack">
          {faults.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path && <code>{showHidden(path)}</code>} {showHidden(message)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  return (
    <div>
      <h3>About the draft</h3>
      <ul class="mapping-notes">
        {notes.map((note) => (
          <li key={note}>{showHidden(note)}</li>
        ))}
      </ul>
    </div>
  );
}
