import { useRef } from "preact/hooks";
import { Button } from "../parts/button.tsx";

interface FileButtonProps {
  readonly text: string;
  /** The text for screen readers, where the visible one does not name the file. */
  readonly label?: string;
  readonly class?: string;
  readonly isMultiple?: boolean;
  readonly onFiles: (files: readonly File[]) => void;
}

/** Opens the browser's own choice of files. It offers all, because phones cannot choose files of endings that they do not know. */
export function FileButton({ text, label, class: className = "", isMultiple = false, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null);
  const choose = () => {
    const { current } = input;
    onFiles([...(current?.files ?? [])]);
    if (current) current.value = ""; // the same file can be chosen again
  };
  return (
    <>
      <Button text={text} class={className} aria-label={label} onClick={() => input.current?.click()} />
      <input ref={input} type="file" multiple={isMultiple} hidden onChange={choose} />
    </>
  );
}
