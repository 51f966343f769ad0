import { CommandWords } from "./command-words.tsx";
import { Copy } from "./copy.tsx";

/** Shows the advice of service and agent: a text between backticks is a command for a terminal, and can be copied. */
export function Advice({ text }: { text: string }) {
  const commands = text.split("`").filter((piece, at) => at % 2 === 1 && piece.includes(" "));
  return (
    <div class="stack">
      <p>
        <span aria-hidden="true">→ </span>
        <CommandWords text={text} />
      </p>
      {commands.length > 0 && (
        <p class="row">
          {commands.map((command) => (
            <Copy key={command} text={command} />
          ))}
        </p>
      )}
    </div>
  );
}
