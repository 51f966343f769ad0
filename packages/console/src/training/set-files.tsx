import { trainingSets } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { usePages } from "../api/use-pages.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { MoreRows } from "../parts/more-rows.tsx";

const PAGE = 200;

/** Lists the files of a set with links, which are asked for when the dialog is opened, because they end after an hour. */
export function SetFiles({ id, onClose }: { id: string; onClose: () => void }) {
  const { run, isRunning, failure } = useChange(trainingSets.stream);
  const pages = usePages(trainingSets.listFiles, { id, limit: PAGE }, { rowsOf: ({ files }) => files });
  const downloadAll = async () => {
    const answer = await run({ id });
    if (answer) location.assign(answer.link);
  };
  return (
    <Dialog title="Files of the training set" onClose={onClose} isWide>
      <p class="row">
        <Button text="Download all as one .tar" disabled={isRunning} onClick={() => void downloadAll()} />
        <span class="muted">A link works for an hour, for anyone who has it.</span>
      </p>
      {failure && <Failed failure={failure} />}
      <ul class="set-files">
        {pages.rows.map(({ path, size, sha256, link }) => (
          <li key={path} class="row">
            <a href={link} download={path.replaceAll("/", "_")} title={`SHA-256 ${sha256}`}>
              <ForeignText text={path} />
            </a>
            <span class="grow" />
            <span class="number muted">{formatBytes(size)}</span>
          </li>
        ))}
      </ul>
      <MoreRows pages={pages} />
    </Dialog>
  );
}
