import { trainingSets } from "@downlink/protocol";
import { usePages } from "../api/use-pages.ts";
import { formatBytes } from "../parts/bytes.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { MoreRows } from "../parts/more-rows.tsx";

const PAGE = 200;

/** Lists the files of a set with links, which are asked for when the dialog is opened, because they end after an hour. */
export function SetFiles({ id, onClose }: { id: string; onClose: () => void }) {
  const pages = usePages(trainingSets.listFiles, { id, limit: PAGE }, { rowsOf: ({ files }) => files });
  return (
    <Dialog title="Files of the training set" onClose={onClose} isWide>
      <p class="muted">A link works for an hour, for anyone who has it.</p>
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
