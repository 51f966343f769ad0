/** Names what of the address means nothing, because what is ignored in silence looks like an answer. */
export function UrlProblems({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <div class="banner" role="status">
      Ignored in the address: {problems.join("; ")}.
    </div>
  );
}
