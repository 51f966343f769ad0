import { Menu, type MenuItem } from "../parts/menu.tsx";
import type { Column } from "../parts/table.tsx";

export type RowActions = readonly (MenuItem | false)[];

interface ActionsOf<T> {
  readonly nameOf: (row: T) => string;
  /** An action that the user may not do is false. */
  readonly items: (row: T) => RowActions;
}

/** Returns the last column: the actions on a row. It is empty for users who may do nothing. */
export function actionsColumn<T>({ nameOf, items }: ActionsOf<T>): Column<T> {
  return {
    name: "Actions",
    width: "60px",
    narrow: "end",
    cell: (row) => {
      const shown = items(row).filter((item) => item !== false);
      if (shown.length === 0) return null;
      return (
        <Menu label={`Actions of ${nameOf(row)}`} class="small plain" items={shown}>
          ⋯
        </Menu>
      );
    },
  };
}
