/** A command to copy, as it is typed. A line that is wider than the page scrolls, so that it has to be reached by the keyboard. */
export function CommandText({ text }: { readonly text: string }) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
  return <pre tabIndex={0}>{text}</pre>;
}
