import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import "./toast.css";
import { showHidden } from "./show-hidden.ts";

const SHOWN_MS = 6000;

interface Link {
  readonly text: string;
  readonly href: string;
}

const shown = signal<{ readonly text: string; readonly link: Link | undefined; readonly at: number } | undefined>(
  undefined,
);

/** Says at the edge of the page for some seconds that something was done, and where it goes on. Failures are shown where they happen. */
export function toast(text: string, link?: Link): void {
  shown.value = { text, link, at: Date.now() };
}

export function Toast() {
  const { value } = shown;
  useEffect(() => {
    if (!value) return;
    const timer = setTimeout(() => {
      shown.value = undefined;
    }, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return (
    <div class="toast" role="status">
      {value && (
        <p>
          {showHidden(value.text)} {value.link && <a href={value.link.href}>{showHidden(value.link.text)}</a>}
        </p>
      )}
    </div>
  );
}
