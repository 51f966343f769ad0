import { showHidden } from "./show-hidden.ts";

/** Names the parts of the address that mean nothing, because a page that ignores them in silence looks like an answer to them. */
export function UrlProblems({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <div class="banner" role="status">
      Ignored in the address: {showHidden(problems.join("; "))}.
    </div>
  );
}
