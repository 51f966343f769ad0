import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failed } from "./failed.tsx";
import { SubmitButton, type SubmitProps } from "./submit-button.tsx";

interface FormProps extends Omit<SubmitProps, "text"> {
  readonly title: string;
  /** The verb on the button. */
  readonly deed: string;
  readonly isWide?: boolean;
  readonly onSubmit: () => unknown;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A form over the page. It stays as it was typed until it was accepted, and says in place why it was not. */
export function FormDialog({ title, deed, isWide = false, onSubmit, onClose, children, ...button }: FormProps) {
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog {...{ title, onClose, isWide }}>
      <form class="stack" onSubmit={submit}>
        {children}
        {button.failure && <Failed failure={button.failure} />}
        <div class="dialog-actions">
          <Button text="Cancel" onClick={onClose} />
          <SubmitButton {...button} text={deed} />
        </div>
      </form>
    </Dialog>
  );
}
