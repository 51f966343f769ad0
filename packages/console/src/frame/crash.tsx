import { signal } from "@preact/signals";
import { Button } from "../parts/button.tsx";

/** The error that a page threw while it was drawn: a fault of ours. */
export const crash = signal<Error | undefined>(undefined);

export function reportCrash(error: Error): void {
  console.error(error);
  crash.value = error;
}

export function CrashNote() {
  const { value } = crash;
  if (!value) return null;
  return (
    <div class="banner danger" role="alert">
      <span>This page failed: {value.message}. The other pages still work; a reload usually helps.</span>
      <Button text="Reload" class="small" onClick={() => location.reload()} />
    </div>
  );
}
