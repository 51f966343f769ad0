import type { ComponentChildren } from "preact";
import { ForeignText } from "../parts/foreign-text.tsx";
import type { ExportFile } from "./export-source.ts";

interface ListProps {
  readonly files: readonly ExportFile[];
  /** Renders what can be done with a file. */
  readonly children: (file: ExportFile) => ComponentChildren;
}

/** Lists the files by name, if there are several, each with what can be done with it. */
export function FileList({ files, children }: ListProps) {
  return (
    <ul class="stack export-files">
      {files.map((file) => (
        <li key={file.name} class="row">
          {files.length > 1 && (
            <strong class="cut">
              <ForeignText text={file.name} />
            </strong>
          )}
          {children(file)}
        </li>
      ))}
    </ul>
  );
}
