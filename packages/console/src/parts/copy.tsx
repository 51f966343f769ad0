import { useEffect, useRef, useState } from "preact/hooks";

const SHOWN_MS = 1500;

interface CopyProps {
  readonly text: string;
  /** What the button says; absent for the text itself. */
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
      {label} <span aria-live="polite">{state === "copied" ? "✓ copied" : "⧉"}</span>
    </button>
  );
}

function Selected({ text, onCopied }: Pick<CopyProps, "text" | "onCopied">) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.select(), []);
  const rows = text.split("\n").length;
  return <textarea ref={field} readOnly {...{ rows }} value={text} aria-label="Text to copy" onCopy={onCopied} />;
}
