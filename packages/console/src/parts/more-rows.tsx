import type { Pages } from "../api/use-pages.ts";
import { Button } from "./button.tsx";
import { Failed } from "./failed.tsx";
import { ProgressLine } from "./progress-line.tsx";

/** Stands below a list that is read page by page: its failure, that it is on its way, and how to read on. */
export function MoreRows({ pages }: { pages: Pages<unknown> }) {
  const { rows, hasMore, isLoading, failure, more, again } = pages;
  return (
    <>
      <ProgressLine isOn={isLoading} />
      {failure && <Failed failure={failure} again={again} />}
      {hasMore && (
        <p class="row">
          <Button text="Show more" disabled={isLoading} onClick={more} />
          <span class="muted">{rows.length} so far</span>
        </p>
      )}
    </>
  );
}
