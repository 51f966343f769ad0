import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";

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

/**
 * Guards a page while it is on: the browser asks before the page is closed or loaded again, and Back stays on the page. An entry of the
 * same address is put before it, so that Back only takes that away, and `onBack` is called.
 */
function useLeaveGuard(isOn: boolean, onBack: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const put = () => history.pushState(history.state, "", location.href);
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    const back = () => {
      put();
      onBack();
    };
    put();
    addEventListener("beforeunload", unload);
    addEventListener("popstate", back);
    return () => {
      removeEventListener("beforeunload", unload);
      removeEventListener("popstate", back);
      history.back();
    };
  }, [isOn]);
}
