import { useEffect, useRef, useState } from "preact/hooks";

const SHOWN_MS = 1500;

interface CopyProps {
  readonly text: string;
  /** The text of the button; absent for the copied text itself. */
  readonly label?: string;
  readonly onCopied?: () => void;
}

/**
 * Copies a text. On a page that came over plain http from another machine there is no clipboard: the text is then shown in a field, selected.
 */
export function Copy({ text, label = text, onCopied }: CopyProps) {
  const [state, setState] = useState<"ready" | "copied" | "shown">("ready");
  useEffect(() => {
    if (state !== "copied") return;
    const timer = setTimeout(() => setState("ready"), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
      onCopied?.();
    } catch {
      setState("shown");
    }
  };
  if (state === "shown") return <Selected {...{ text, onCopied }} />;
  return (
    <button type="button" class="small" title="Copy" onClick={() => void copy()}>
      {label} <span aria-live="polite">{state === "copied" ? "✓ copied" : <TwoSheets />}</span>
    </button>
  );
}

/** Few fonts have a character for it. */
function TwoSheets() {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      width="11"
      height="11"
      fill="none"
      stroke="currentColor"
      stroke-width="1.5"
    >
      <path d="M5.5 5.5h9v9h-9zM2 11V1.5h9" />
    </svg>
  );
}

function Selected({ text, onCopied }: Pick<CopyProps, "text" | "onCopied">) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);
  const rows = text.split("\n").length;
  return <textarea ref={field} readOnly {...{ rows }} value={text} aria-label="Text to copy" onCopy={onCopied} />;
}
