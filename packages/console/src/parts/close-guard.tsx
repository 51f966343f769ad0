import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";

interface CloseGuard {
  /** Closes the dialog, or asks first. Escape, Back and the button at the top call it. */
  readonly close: () => void;
  /** The question, in the place of the dialog's buttons. */
  readonly question: VNode | undefined;
}

interface Guarded {
  /** Nothing would be lost. */
  readonly isSafe: boolean;
  /** Says what would be lost. */
  readonly text: string;
  /** The words on the button that closes the dialog all the same. */
  readonly leave: string;
}

/** Guards a dialog in which something can be lost: a user who leaves it before is asked first. */
export function useCloseGuard({ isSafe, text, leave }: Guarded, onClose: () => void): CloseGuard {
  const [isAsked, setAsked] = useState(false);
  const stay = () => setAsked(false);
  return {
    close: () => (isSafe ? onClose() : setAsked(true)),
    question: isAsked && !isSafe ? <Question {...{ text, leave, stay, onClose }} /> : undefined,
  };
}

interface QuestionProps extends Omit<Guarded, "isSafe"> {
  readonly stay: () => void;
  readonly onClose: () => void;
}

/** It takes the focus, so that it is seen in a dialog that is higher than the page, too, and gives it back. */
function Question({ text, leave, stay, onClose }: QuestionProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    place.current!.querySelector("button")!.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  return (
    <div class="failure stack" role="alert" ref={place}>
      <p>{text}</p>
      <div class="dialog-actions">
        <Button text="Stay" onClick={stay} />
        <Button text={leave} class="danger" onClick={onClose} />
      </div>
    </div>
  );
}

/** Guards a dialog with a secret, which cannot be seen again. The browser asks before the page is closed or loaded again, too. */
export function useSecretGuard(isSafe: boolean, onClose: () => void): CloseGuard {
  useUnloadGuard(!isSafe);
  const text = "It was not copied yet. If you lose it, you have to make another one.";
  return useCloseGuard({ isSafe, text, leave: "Close without it" }, onClose);
}

/** Lets the browser ask before the page is closed or loaded again. */
export function useUnloadGuard(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const unload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", unload);
    return () => removeEventListener("beforeunload", unload);
  }, [isOn]);
}
