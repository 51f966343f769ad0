import type { ComponentChildren } from "preact";
import "./empty.css";
import { showHidden } from "./show-hidden.ts";

/** Says why a list is empty, and what one can do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{showHidden(title)}</p>
      <div class="stack">{children}</div>
    </div>
  );
}
