import { showHidden } from "./show-hidden.ts";

/**
 * Shows a text that a robot, a program or another user wrote. It is set apart from the text around it, so that one that is written from
 * right to left does not turn the order of its neighbours, and characters that cannot be seen are shown as escapes.
 */
export function ForeignText({ text }: { text: string }) {
  return <bdi>{showHidden(text)}</bdi>;
}
