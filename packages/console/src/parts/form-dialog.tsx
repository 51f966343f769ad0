import type { ComponentChildren } from "preact";
import type { Failure } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failed } from "./failed.tsx";
import { SubmitButton } from "./submit-button.tsx";

interface FormProps {
  readonly title: string;
  /** The verb on the button. */
  readonly deed: string;
  readonly isRunning: boolean;
  readonly failure: Failure | undefined;
  readonly isDisabled?: boolean;
  readonly isWide?: boolean;
  readonly onSubmit: () => unknown;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A form over the page. It stays as it was typed until it was accepted, and says in place why it was not. */
export function FormDialog(props: FormProps) {
  const { title, deed, isRunning, failure, isDisabled = false, isWide = false, onSubmit, onClose, children } = props;
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog {...{ title, onClose, isWide }}>
      <form class="stack" onSubmit={submit}>
        {children}
        {failure && <Failed failure={failure} />}
        <div class="dialog-actions">
          <Button text="Cancel" onClick={onClose} />
          <SubmitButton {...{ isRunning, failure, isDisabled }} text={deed} />
        </div>
      </form>
    </Dialog>
  );
}
