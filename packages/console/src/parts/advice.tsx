import { Copy } from "./copy.tsx";

/** Shows the advice of service and agent: a text between backticks is a command for a terminal, and can be copied. */
export function Advice({ text }: { text: string }) {
  const pieces = text.split("`");
  const commands = pieces.filter((piece, at) => at % 2 === 1 && piece.includes(" "));
  return (
    <div class="stack">
      <p>
        <span aria-hidden="true">→ </span>
        {pieces.map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece))}
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
