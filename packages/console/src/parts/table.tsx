import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeptScroll } from "../browser/entry-state.ts";
import { useWidth } from "../browser/use-width.ts";
import { fitColumns } from "./fit-columns.ts";
import { ForeignText } from "./foreign-text.tsx";
import { type Shortcut, useShortcuts } from "./keys.ts";
import { useRowWindow } from "./row-window.ts";
import { isSelected, type Selection } from "./selection.ts";
import "./list-bars.css";
import "./table.css";
import { rowAfter } from "./table-keys.ts";

export interface Column<T> {
  readonly name: string;
  /** As in `grid-template-columns`: `120px`, `minmax(0, 2fr)`. */
  readonly width: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Where it stands on a phone: the first or the second line, at its start or its end. Absent for nowhere. */
  readonly narrow?: "title" | "end" | "sub" | "sub-end";
  /** Where there is no room, columns that can be spared are left out in this order, the one with the lowest number first. */
  readonly spare?: number;
  /** The order of the list when the head of the column is chosen. */
  readonly sort?: string;
}

interface Identified {
  readonly id: string;
}

export interface TableProps<T extends Identified> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly count: number;
  /** Undefined while it is not here. */
  readonly rowAt: (index: number) => T | undefined;
  readonly onLook?: (first: number, last: number) => void;
  readonly onOpen?: ((row: T) => void) | undefined;
  readonly selection?: Selection;
  readonly onToggle?: (row: T, options: { readonly extends: boolean }) => void;
  readonly sort?: { readonly by: string; readonly order: "asc" | "desc" };
  readonly onSort?: (by: string) => void;
}

/** A list of any length, of which only the rows in sight are on the page. Arrows, j and k move, x selects, Enter opens. */
export function Table<T extends Identified>(given: TableProps<T>) {
  const { label, count, rowAt, onLook, selection } = given;
  const scroller = useRef<HTMLDivElement>(null);
  const widthPx = useWidth(scroller);
  const [active, setActive] = useState(0);
  const { isNarrow, heightPx, items, scrollTo } = useRowWindow(scroller, count);
  const place = { widthPx, hasSelection: selection !== undefined };
  const columns = isNarrow ? given.columns : fitColumns(given.columns, place);
  const props = { ...given, columns };
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onLook?.(first, last), [first, last]);
  useKeptScroll(scroller, { key: `table ${label}`, isReady: rowAt(0) !== undefined });
  const widths = [...(selection ? ["36px"] : []), ...columns.map(({ width }) => width)].join(" ");
  const move = (to: number) => {
    setActive(to);
    scrollTo(to);
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-index="${to}"]`)?.focus());
  };
  const onKeyDown = (event: KeyboardEvent) => handleKey(event, { props, active, move });
  useShortcuts(count > 0 ? pageKeys({ props, active, move }) : []);
  return (
    <div class={isNarrow ? "table narrow" : "table"} ref={scroller}>
      <div
        role="grid"
        aria-label={label}
        aria-rowcount={count + 1}
        aria-multiselectable={selection ? true : undefined}
        tabIndex={-1}
        style={{ "--columns": widths }}
        onKeyDown={onKeyDown}
      >
        <Head {...props} />
        <div role="rowgroup" class="table-rows" style={{ height: `${heightPx}px` }}>
          {items.map(({ index, startPx }) => (
            <Row
              key={index}
              {...{
                ...props,
                index,
                startPx,
                row: rowAt(index),
                isActive: index === Math.min(active, count - 1),
                setActive,
              }}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface Moved<T extends Identified> {
  readonly props: TableProps<T>;
  readonly active: number;
  readonly move: (to: number) => void;
}

/** Keys that lead into the list from the page. In the list itself its rows hear them. */
function pageKeys<T extends Identified>({ props, active, move }: Moved<T>): readonly Shortcut[] {
  const { count, rowAt, onToggle } = props;
  const at = Math.min(active, count - 1);
  const enter = () => move(at);
  const toggleRow = () => {
    const row = rowAt(at);
    if (row) onToggle?.(row, { extends: false });
    enter();
  };
  return [
    { keys: "j", does: "Into the list, and to its next row", run: enter },
    { keys: "k", does: "Into the list, and to the row before", run: enter },
    ...(onToggle ? [{ keys: "x", does: "Select the row", run: toggleRow }] : []),
  ];
}

function handleKey<T extends Identified>(event: KeyboardEvent, { props, active, move }: Moved<T>): void {
  if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
  const { rowAt, onOpen, onToggle, count } = props;
  const row = rowAt(active);
  const next = rowAfter(event.key, { at: active, count });
  if (next !== undefined) {
    event.preventDefault();
    if (event.shiftKey && row) onToggle?.(rowAt(next) ?? row, { extends: true });
    move(next);
    return;
  }
  if (row === undefined || event.target instanceof HTMLButtonElement) return;
  if (event.key === "Enter" && !(event.target instanceof HTMLAnchorElement)) onOpen?.(row);
  if (event.key !== "x") return;
  event.preventDefault(); // the page hears the key as well
  onToggle?.(row, { extends: false });
}

function Head<T extends Identified>({ columns, selection, sort, onSort }: TableProps<T>) {
  return (
    <div role="rowgroup" class="table-head">
      <div role="row" aria-rowindex={1} tabIndex={-1}>
        {selection && (
          <span role="columnheader" tabIndex={-1}>
            <span class="unseen">Selected</span>
          </span>
        )}
        {columns.map(({ name, isNumber, sort: by }) => {
          const isSorted = by !== undefined && by === sort?.by;
          const order = sort?.order === "asc" ? "ascending" : "descending";
          return (
            <span
              key={name}
              role="columnheader"
              tabIndex={-1}
              class={isNumber ? "number" : ""}
              aria-sort={isSorted ? order : undefined}
            >
              {by === undefined || !onSort ? (
                name
              ) : (
                <SortButton {...{ name, isSorted, order, choose: () => onSort(by) }} />
              )}
            </span>
          );
        })}
      </div>
    </div>
  );
}

interface SortProps {
  readonly name: string;
  readonly isSorted: boolean;
  readonly order: string;
  readonly choose: () => void;
}

function SortButton({ name, isSorted, order, choose }: SortProps) {
  return (
    <button type="button" class="plain" onClick={choose}>
      {name}
      {isSorted && <span aria-hidden="true">{order === "ascending" ? "↑" : "↓"}</span>}
    </button>
  );
}

/** Texts in cells are mostly of others. */
function shown(content: ComponentChildren): ComponentChildren {
  return typeof content === "string" ? <ForeignText text={content} /> : content;
}

interface RowProps<T extends Identified> extends TableProps<T> {
  readonly index: number;
  readonly startPx: number;
  readonly row: T | undefined;
  readonly isActive: boolean;
  readonly setActive: (index: number) => void;
}

function Row<T extends Identified>({
  index,
  startPx,
  row,
  isActive,
  setActive,
  columns,
  selection,
  onToggle,
  onOpen,
}: RowProps<T>) {
  const chosen = row !== undefined && selection !== undefined && isSelected(selection, row.id);
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={selection ? chosen : undefined}
      aria-busy={row === undefined || undefined}
      data-index={index}
      tabIndex={isActive ? 0 : -1}
      style={{ transform: `translateY(${startPx}px)` }}
      onFocus={() => setActive(index)}
      onDblClick={() => row !== undefined && onOpen?.(row)}
    >
      {selection && (
        <span role="gridcell" tabIndex={-1} class="table-check">
          {row !== undefined && (
            <input
              type="checkbox"
              tabIndex={-1}
              checked={chosen}
              aria-label="Select"
              onClick={(event) => onToggle?.(row, { extends: event.shiftKey })}
            />
          )}
        </span>
      )}
      {columns.map(({ name, cell, isNumber, narrow = "hidden" }) => (
        <span key={name} role="gridcell" tabIndex={-1} class={`${isNumber ? "number " : ""}cut at-${narrow}`}>
          {row === undefined ? <span class="table-waits" /> : shown(cell(row))}
        </span>
      ))}
    </div>
  );
}
