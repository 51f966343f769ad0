import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import "./dialog.css";
import { showHidden } from "./show-hidden.ts";
import { useModal } from "./show-modal.ts";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Called by Escape, by Back, by the button at the top, and by nothing else. Absent if it must be answered. */
  readonly onClose?: (() => void) | undefined;
  readonly isWide?: boolean;
}

/** A dialog over the page, open for as long as it is rendered. The browser holds the focus in it, and gives it back afterwards. */
export function Dialog({ title, children, onClose, isWide = false }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useModal(element, onClose);
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose?.();
  };
  return (
    <dialog ref={element} class={isWide ? "wide" : ""} aria-labelledby={titleId} onCancel={cancel}>
      <header>
        <h2 id={titleId}>{showHidden(title)}</h2>
        {onClose && <Button text="✕" class="plain small" aria-label="Close" onClick={onClose} />}
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
