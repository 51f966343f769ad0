import type { ComponentChildren } from "preact";
import type { Failure } from "../api/failure.ts";
import { Failed } from "../parts/failed.tsx";

interface FormProps {
  readonly label: string;
  readonly title: string;
  /** A text below the title. */
  readonly note?: string;
  readonly mayChange: boolean;
  readonly isWrong: boolean;
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  readonly onSubmit: () => unknown;
  readonly children: ComponentChildren;
}

/** A card of settings that are saved together. A user who may not change them only reads them. */
export function SettingsForm(props: FormProps) {
  const { label, title, note, mayChange, isWrong, isRunning, failure, onSubmit, children } = props;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form class="card stack" aria-label={label} onSubmit={submit}>
      <h2>{title}</h2>
      {note && <p class="muted">{note}</p>}
      <fieldset class="stack" disabled={!mayChange}>
        {children}
      </fieldset>
      {failure && <Failed failure={failure} />}
      {mayChange && (
        <div class="row">
          <button type="submit" class="primary" disabled={isWrong || isRunning}>
            {isRunning ? "Saving…" : "Save"}
          </button>
        </div>
      )}
    </form>
  );
}
