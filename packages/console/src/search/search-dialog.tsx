import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { followLink } from "../browser/follow-link.ts";
import "../parts/dialog.css";
import type { SearchProps } from "../frame/page.ts";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useModal } from "../parts/show-modal.ts";
import { activeAfter, type Found, type FoundGroup, withWords } from "./found.ts";
import { findActions, findPages } from "./known-places.ts";
import "./search-dialog.css";
import { useFoundData } from "./use-found.ts";

/** Finds things of the project, pages and actions by what is typed. Arrows choose, Enter opens, Escape closes. */
export function SearchDialog({ onClose, ...props }: SearchProps & { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const [chosen, setChosen] = useState<string | undefined>();
  const data = useFoundData(typed, props);
  const groups = [
    ...data.groups,
    { title: "Pages", found: withWords(findPages(props), typed) },
    { title: "Actions", found: withWords(findActions(props), typed) },
  ].filter(({ found }) => found.length > 0);
  const all = groups.flatMap(({ found }) => found);
  const ids = all.map(({ id }) => id);
  const active = chosen !== undefined && ids.includes(chosen) ? chosen : ids[0];
  const choose = ({ href, run }: Found) => {
    onClose();
    run?.();
    if (href !== undefined) followLink(href);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = activeAfter(event.key, ids, active);
    if (next !== undefined) setChosen(next);
    const opened = event.key === "Enter" && !event.isComposing ? all.find(({ id }) => id === active) : undefined;
    if (next !== undefined || event.key === "Enter") event.preventDefault();
    if (opened) choose(opened);
  };
  const type = (text: string) => {
    setTyped(text);
    setChosen(undefined);
  };
  return (
    <Overlay onClose={onClose}>
      <Results {...{ typed, type, groups, active, onKeyDown, choose }} />
      <p class="search-state muted" role="status">
        {stateText(all.length, data.isLoading)}
      </p>
      {data.failure && <Failed failure={data.failure} />}
    </Overlay>
  );
}

function stateText(count: number, isLoading: boolean): string {
  if (isLoading) return "Searching…";
  return count === 0 ? "Nothing was found." : "↑ ↓ choose · Enter opens · Esc closes";
}

function Overlay({ onClose, children }: { onClose: () => void; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useModal(element, onClose);
  const cancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  return (
    <dialog ref={element} class="search-dialog" aria-label="Search" onCancel={cancel}>
      {children}
    </dialog>
  );
}

interface ResultsProps {
  readonly typed: string;
  readonly type: (text: string) => void;
  readonly groups: readonly FoundGroup[];
  readonly active: string | undefined;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly choose: (found: Found) => void;
}

/** A field with a list of options below it, which keeps the focus while arrows choose. ARIA practices: combobox with a listbox */
function Results({ typed, type, groups, active, onKeyDown, choose }: ResultsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <>
      <input
        type="text"
        role="combobox"
        class="search-field"
        aria-label="Search"
        placeholder="Search devices, recordings, events, datasets, pages…"
        aria-expanded={groups.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : `${id}-${active}`}
        autoComplete="off"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} ref={list} class="search-list" role="listbox" aria-label="Found" tabIndex={-1}>
        {groups.map(({ title, found }) => (
          // biome-ignore lint/a11y/useSemanticElements: a listbox may have groups in it, and no fieldset
          <div key={title} role="group" aria-label={title}>
            <p class="search-title" aria-hidden="true">
              {title}
            </p>
            {found.map((one) => (
              <Option key={one.id} id={`${id}-${one.id}`} {...{ one, choose }} isActive={one.id === active} />
            ))}
          </div>
        ))}
      </div>
    </>
  );
}

interface OptionProps {
  readonly id: string;
  readonly one: Found;
  readonly isActive: boolean;
  readonly choose: (found: Found) => void;
}

function Option({ id, one, isActive, choose }: OptionProps) {
  return (
    // The field has the focus, and the keys are heard there.
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
    <div
      {...{ id }}
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      class="search-option"
      onClick={() => choose(one)}
    >
      <span class="cut">
        <ForeignText text={one.text} />
      </span>
      {one.detail && (
        <span class="cut muted">
          <ForeignText text={one.detail} />
        </span>
      )}
    </div>
  );
}
