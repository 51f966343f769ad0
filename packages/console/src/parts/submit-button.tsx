import { useWait } from "./use-wait.ts";

interface SubmitProps {
  readonly text: string;
  readonly isRunning: boolean;
  /** The failure of the last try. The button waits as long as the service asks. */
  readonly failure?: { readonly retryAfterMs: number | undefined } | undefined;
  readonly isDisabled?: boolean;
}

/** The button that sends a form: not twice at once, and not before the wait that the service asks for is over. */
export function SubmitButton({ text, isRunning, failure, isDisabled = false }: SubmitProps) {
  const left = useWait(failure);
  return (
    <button type="submit" class="primary" disabled={isRunning || isDisabled || left > 0}>
      {left > 0 ? `Wait ${left} s` : text}
    </button>
  );
}
