import type { ComponentChildren } from "preact";
import type { Rows } from "../api/use-rows.ts";
import { Empty } from "./empty.tsx";
import { Failed } from "./failed.tsx";
import { ProgressLine } from "./progress-line.tsx";
import { type Column, Table } from "./table.tsx";

interface ListProps<T> {
  readonly label: string;
  readonly rows: Rows<T>;
  readonly columns: readonly Column<T>[];
  readonly onOpen?: (row: T) => void;
  /** The text that is shown if there is none. */
  readonly none: string;
  /** Says what a person can do about it. */
  readonly children?: ComponentChildren;
}

const FIRST_ROWS = 3;

/** Shows a list in each of its states: on its way, failed, empty, or there. */
export function ResourceList<T extends { readonly id: string }>(props: ListProps<T>) {
  const { label, rows, columns, onOpen, none, children } = props;
  return (
    <>
      <ProgressLine isOn={rows.isLoading} />
      {rows.failure && <Failed failure={rows.failure} again={rows.again} />}
      {rows.count === 0 && !rows.isNew ? (
        <Empty title={none}>{children}</Empty>
      ) : (
        !(rows.isNew && rows.failure) && (
          <Table
            {...{ label, columns, onOpen }}
            count={rows.isNew ? FIRST_ROWS : rows.count}
            rowAt={rows.at}
            onLook={rows.look}
          />
        )
      )}
    </>
  );
}
