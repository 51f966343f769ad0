import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Failure } from "../api/failure.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failed } from "./failed.tsx";
import { TextField } from "./text-field.tsx";

interface ConfirmProps {
  readonly title: string;
  /** The verb on the button. */
  readonly deed: string;
  /** Says what is deleted, and what stays. */
  readonly children: ComponentChildren;
  /** A name that has to be typed first, for what cannot be undone. */
  readonly typedName?: string;
  readonly failure: Failure | undefined;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before something is destroyed. The button names the deed. */
export function Confirm({ title, deed, children, typedName, failure, onConfirm, onClose }: ConfirmProps) {
  const [typed, setTyped] = useState("");
  const isReady = typedName === undefined || typed === typedName;
  const confirm = (event: { preventDefault(): void }) => {
    event.preventDefault();
    if (isReady) onConfirm();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="stack" onSubmit={confirm}>
        {children}
        {typedName !== undefined && (
          <TextField label={`Type ${typedName} to go on`} value={typed} onChange={setTyped} autoComplete="off" />
        )}
        {failure && <Failed failure={failure} />}
        <div class="dialog-actions">
          <Button text="Cancel" onClick={onClose} />
          <button type="submit" class="danger" disabled={!isReady}>
            {deed}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
