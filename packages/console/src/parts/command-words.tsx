import { showHidden } from "./show-hidden.ts";

/** Shows a text of the service or the agent, in which a command for a terminal stands between backticks. */
export function CommandWords({ text }: { text: string }) {
  return <>{text.split("`").map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : showHidden(piece)))}</>;
}
