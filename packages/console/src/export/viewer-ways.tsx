import { type Viewer, viewLinks } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import type { ExportFile, ExportSource } from "./export-source.ts";
import { type ExportOptions, exportBody } from "./export-text.ts";
import { FileList } from "./file-list.tsx";

const LOOK_MS = 1000;

/** Asks which viewers the operator named; none for who may make no links. */
export function useViewers(): readonly Viewer[] {
  const { data: me } = useMe();
  return useQuery(viewLinks.listViewers, {}, { isEnabled: may(me, "viewLinks.create") }).data ?? [];
}

interface WaysProps {
  readonly source: ExportSource;
  /** Undefined while the form cannot be read. */
  readonly options: ExportOptions | undefined;
}

/** Offers to open each file in each viewer. */
export function ViewerWays({ source: { files }, options }: WaysProps) {
  const viewers = useViewers();
  return (
    <div class="stack">
      <FileList files={files}>
        {(file) =>
          viewers.map((viewer) => <Opening key={keyOf(viewer, file, options)} {...{ file, viewer, options }} />)
        }
      </FileList>
      <ul class="muted">
        {viewers.map(({ name, origin }) => (
          <li key={name}>
            In {name}, a page of {origin} reads the data in your browser.
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Another choice is another file. */
function keyOf({ name }: Viewer, { by }: ExportFile, options: ExportOptions | undefined): string {
  return `${name} ${options && exportBody({ ...by, ...options })}`;
}

interface OpeningProps {
  readonly file: ExportFile;
  readonly viewer: Viewer;
  readonly options: ExportOptions | undefined;
}

interface Made {
  readonly id: string;
  readonly url: string;
}

/** The address is opened by a second click: a browser lets a page open another one only at a click, and the file takes a while. */
function Opening({ file, viewer, options }: OpeningProps) {
  const make = useChange(viewLinks.create);
  const [made, setMade] = useState<Made | undefined>();
  const [isOver, setOver] = useState(false);
  const pollMs = isOver ? undefined : LOOK_MS;
  const view = useQuery(viewLinks.get, { id: made?.id ?? "" }, { isEnabled: made !== undefined, pollMs });
  useEffect(() => setOver(view.data !== undefined && view.data.state !== "preparing"), [view.data?.state]);
  const prepare = async () => {
    const answer = options && (await make.run({ ...file.by, ...inViewer(options), as: viewer.as }));
    const url = answer?.viewers.find(({ name }) => name === viewer.name)?.url;
    if (answer && url) setMade({ id: answer.id, url });
  };
  const failure = make.failure ?? view.failure;
  const { state, size = 0, failure: why } = view.data ?? { state: "preparing" };
  return (
    <>
      {!made && (
        <Button
          text={`Open in ${viewer.name}`}
          class="primary"
          disabled={!options || make.isRunning}
          onClick={() => void prepare()}
        />
      )}
      {made && state === "preparing" && (
        <p role="status">
          Preparing for {viewer.name}
          {size > 0 && `, ${formatBytes(size)} so far`} …
        </p>
      )}
      {made && state === "ready" && (
        <a class="button primary" href={made.url} target="_blank" rel="noopener noreferrer">
          It is ready: open {viewer.name}
        </a>
      )}
      {made && state === "failed" && <p class="banner">{why}</p>}
      {failure && <Failed failure={failure} />}
    </>
  );
}

/** Viewers read MCAP. */
function inViewer({ topics, start, end }: ExportOptions) {
  return {
    ...(topics && { topics: [...topics] }),
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
  };
}
