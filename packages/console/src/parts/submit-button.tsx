import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Failure } from "../api/failure.ts";
import { Failed } from "./failed.tsx";

const SECOND_MS = 1000;

export interface SubmitProps {
  readonly text: string;
  readonly isRunning: boolean;
  /** The failure of the last try. The button waits as long as the service asks. */
  readonly failure: Failure | undefined;
  readonly isDisabled?: boolean;
  /** Whether the form takes something away. */
  readonly isDangerous?: boolean;
}

/** The button that sends a form: not twice at once, and not before the wait that the service asks for is over. */
export function SubmitButton({ text, isRunning, failure, isDisabled = false, isDangerous = false }: SubmitProps) {
  const left = useWait(failure);
  return (
    <button type="submit" class={isDangerous ? "danger" : "primary"} disabled={isRunning || isDisabled || left > 0}>
      {left > 0 ? `Wait ${left} s` : text}
    </button>
  );
}

/** Stands below a form: why it was refused, the button that sends it, and what else can be done. */
export function SubmitRow({ children, ...button }: SubmitProps & { children?: ComponentChildren }) {
  return (
    <>
      {button.failure && <Failed failure={button.failure} />}
      <div class="row">
        <SubmitButton {...button} />
        {children}
      </div>
    </>
  );
}

/** Returns how many seconds are left of a wait that the service asks for; 0 once it is over. Another failure begins another wait. */
function useWait(failure: Failure | undefined): number {
  const [left, setLeft] = useState(0);
  useEffect(() => {
    const endMs = Date.now() + (failure?.retryAfterMs ?? 0);
    const tick = () => setLeft(Math.max(0, Math.ceil((endMs - Date.now()) / SECOND_MS)));
    tick();
    const timer = setInterval(tick, SECOND_MS);
    return () => clearInterval(timer);
  }, [failure]);
  return left;
}
