import type { ComponentChildren } from "preact";
import { useId, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { nextItem } from "./menu-keys.ts";
import "./menu.css";
import { showHidden } from "./show-hidden.ts";

export interface MenuItem {
  readonly text: string;
  readonly onChoose: () => void;
  readonly isDangerous?: boolean;
}

interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** The content of the button; absent for its label. */
  readonly children?: ComponentChildren;
  readonly class?: string;
  /** The list opens: what it shows may be asked for. */
  readonly onOpen?: () => void;
}

/** A button that opens a list of actions. It works as the ARIA practices say: arrows move, Home and End go to the ends, Escape closes. */
export function Menu({ label, items, children, class: className = "", onOpen }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const all = buttonsOf(list.current);
    const next = nextItem(event.key, {
      at: all.indexOf(document.activeElement as HTMLButtonElement),
      count: all.length,
    });
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    all[next]?.focus();
  };
  const onToggle = ({ newState }: { readonly newState: string }) => {
    if (newState !== "open") return;
    onOpen?.();
    buttonsOf(list.current)[0]?.focus();
  };
  return (
    <span class="menu">
      <button
        type="button"
        class={className}
        aria-haspopup="menu"
        aria-label={children ? showHidden(label) : undefined}
        {...{ popovertarget: id }}
      >
        {children ?? showHidden(label)} <span aria-hidden="true">▾</span>
      </button>
      <div
        id={id}
        ref={list}
        popover="auto"
        role="menu"
        tabIndex={-1}
        aria-label={showHidden(label)}
        onKeyDown={onKeyDown}
        onToggle={onToggle}
      >
        {items.map((item) => (
          <Item key={item.text} item={item} close={() => list.current?.hidePopover()} />
        ))}
      </div>
    </span>
  );
}

function Item({ item, close }: { item: MenuItem; close: () => void }) {
  const choose = () => {
    close();
    item.onChoose();
  };
  const className = item.isDangerous ? "danger plain" : "plain";
  return <Button text={showHidden(item.text)} role="menuitem" class={className} onClick={choose} />;
}

function buttonsOf(list: HTMLElement | null): HTMLButtonElement[] {
  return [...(list?.querySelectorAll<HTMLButtonElement>("button") ?? [])];
}
