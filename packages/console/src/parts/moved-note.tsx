import type { Moved } from "../api/use-rows.ts";
import { Button } from "./button.tsx";
import { formatCount } from "./bytes.ts";

/** Says that a list has other rows by now, and shows them on request. */
export function MovedNote({ moved }: { readonly moved: Moved | undefined }) {
  return (
    <p class="moved-note" role="status">
      {moved && (
        <Button
          text={`${moved.newCount > 0 ? `${formatCount(moved.newCount)} new` : "The list has changed"} · show`}
          class="small"
          onClick={moved.show}
        />
      )}
    </p>
  );
}
