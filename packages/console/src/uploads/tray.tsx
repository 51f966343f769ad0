import { useEffect, useRef, useState } from "preact/hooks";
import { useMe } from "../api/me.ts";
import { signIns } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { useUnloadGuard } from "../parts/close-guard.tsx";
import { findInterrupted } from "./find-interrupted.ts";
import "./tray.css";
import { UploadRow } from "./upload-row.tsx";
import { isEnded } from "./upload-state.ts";
import { sumUp } from "./upload-text.ts";
import { clearEnded, endUploads, isSending, uploads } from "./uploads.ts";

/** Shows the uploads of this tab, and those that were interrupted, on all pages. */
export function Tray() {
  const { value: all } = uploads;
  const [isOpen, setOpen] = useState(true);
  const toggle = useRef<HTMLButtonElement>(null);
  useUnloadGuard(isSending(all));
  useOwner();
  if (all.length === 0) return null;
  return (
    <section class="upload-tray" aria-label="Uploads">
      <header class="row">
        <button
          type="button"
          class="plain small"
          ref={toggle}
          aria-expanded={isOpen}
          aria-controls="upload-rows"
          onClick={() => setOpen(!isOpen)}
        >
          <span aria-hidden="true">{isOpen ? "▾" : "▸"}</span> Uploads
        </button>
        <p class="muted" role="status">
          {sumUp(all)}
        </p>
        {all.some(({ state }) => isEnded(state)) && (
          <Button text="Clear" class="plain small" aria-label="Clear the uploads that are done" onClick={clearEnded} />
        )}
      </header>
      <ul id="upload-rows" hidden={!isOpen}>
        {all.map((upload) => (
          <UploadRow key={upload.id} upload={upload} onGone={() => toggle.current?.focus()} />
        ))}
      </ul>
    </section>
  );
}

/** Finds the interrupted uploads of the user, also once the page is looked at again, and shows another user none of them. */
function useOwner(): void {
  const { data: me } = useMe();
  useEffect(() => {
    if (!me) return;
    endUploads(({ userId }) => userId !== me.id);
    const look = () => {
      if (document.visibilityState === "visible") void findInterrupted(me.id);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, [me?.id, signIns.value]);
}
