import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { useCloseGuard } from "./close-guard.tsx";
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

/**
 * A form over the page. It stays as it was typed until it was accepted, and says in place why it was not. A user who leaves it otherwise than by
 * Cancel is asked before what was typed is thrown away.
 */
export function FormDialog({ title, deed, isWide = false, onSubmit, onClose, children, ...button }: FormProps) {
  const [isTyped, setTyped] = useState(false);
  const isSafe = !isTyped || button.isDangerous === true;
  const { close, question } = useCloseGuard(
    { isSafe, text: "What you typed is not saved.", leave: "Throw it away" },
    onClose,
  );
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <Dialog {...{ title, isWide }} onClose={close}>
      <form class="stack" onSubmit={submit} onInput={({ target }) => isText(target) && setTyped(true)}>
        {children}
        {button.failure && <Failed failure={button.failure} />}
        {question ?? (
          <div class="dialog-actions">
            <Button text="Cancel" onClick={onClose} />
            <SubmitButton {...button} text={deed} />
          </div>
        )}
      </form>
    </Dialog>
  );
}

/** Boxes and choices are made again at once; a text is not. */
function isText(field: EventTarget | null): boolean {
  if (field instanceof HTMLInputElement) return !/^(checkbox|radio)$/.test(field.type) && field.value !== "";
  return field instanceof HTMLTextAreaElement && field.value !== "";
}
