import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { useLeaveGuard } from "./leave-guard.ts";

interface SecretGuard {
  /** Closes the dialog, or asks first. Escape, Back and every button call it. */
  readonly close: () => void;
  /** The question, in the place of the dialog's buttons. */
  readonly question: VNode | undefined;
}

/** Guards a dialog with a secret, which cannot be seen again: a user who leaves before the secret is safe is asked first. */
export function useSecretGuard(isSafe: boolean, onClose: () => void): SecretGuard {
  const [isAsked, setAsked] = useState(false);
  useLeaveGuard(!isSafe, () => setAsked(true));
  const question = (
    <div class="failure stack" role="alert">
      <p>It was not copied yet. If you lose it, you have to make another one.</p>
      <div class="dialog-actions">
        <Button text="Stay" onClick={() => setAsked(false)} />
        <Button text="Close without it" class="danger" onClick={onClose} />
      </div>
    </div>
  );
  return {
    close: () => (isSafe ? onClose() : setAsked(true)),
    question: isAsked && !isSafe ? question : undefined,
  };
}
