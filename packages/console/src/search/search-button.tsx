import { useEffect, useState } from "preact/hooks";
import { ErrorBoundary } from "preact-iso";
import { reportCrash } from "../frame/crash.tsx";
import { lazyPart } from "../frame/lazy-part.ts";
import type { SearchProps } from "../frame/page.ts";
import { useShortcuts } from "../parts/keys.ts";
import "./search-button.css";

const SearchDialog = lazyPart(() => import("./search-dialog.tsx").then((part) => part.SearchDialog));

/** Opens the search from every page: by itself, by `/`, and by Ctrl+K or ⌘K, which work while a user types, too. */
export function SearchButton(props: SearchProps) {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  useShortcuts([{ keys: "/", does: "Search everywhere, as Ctrl+K and ⌘K", run: open }]);
  useCommandK(open);
  return (
    <>
      <button type="button" class="search-button" aria-keyshortcuts="/ Control+K Meta+K" onClick={open}>
        <svg viewBox="0 0 24 24" aria-hidden="true">
          <path d="M10 3a7 7 0 1 0 4.2 12.6l5.1 5.1 1.4-1.4-5.1-5.1A7 7 0 0 0 10 3zm0 2a5 5 0 1 1 0 10 5 5 0 0 1 0-10z" />
        </svg>
        <span>Search…</span>
        <kbd>/</kbd>
      </button>
      {isOpen && (
        <ErrorBoundary onError={reportCrash}>
          <SearchDialog {...props} onClose={() => setOpen(false)} />
        </ErrorBoundary>
      )}
    </>
  );
}

function useCommandK(open: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      if (!isCommand || event.key.toLowerCase() !== "k" || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      open();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}
