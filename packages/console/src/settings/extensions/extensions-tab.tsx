import { type Extension, extensions } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { useRows } from "../../api/use-rows.ts";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { Failed } from "../../parts/failed.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { showHidden } from "../../parts/show-hidden.ts";
import type { Column } from "../../parts/table.tsx";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { PublishExtension } from "./publish-extension.tsx";

/** Lists the packages that viewers of the organization load. */
export function ExtensionsTab() {
  const { data: me } = useMe();
  const isEnabled = mayCall(me, extensions.list);
  const rows = useRows(extensions.list, {}, { isEnabled });
  const link = useChange(extensions.get);
  const [deleted, setDeleted] = useState<Extension | undefined>();
  const mayDelete = mayCall(me, extensions.delete);
  const onDownload = async (id: string) => {
    const found = await link.run({ id });
    if (found) location.assign(found.foxe);
  };
  const items = (extension: Extension): RowActions => [
    { text: "Download", onChoose: () => void onDownload(extension.id) },
    mayDelete && { text: "Delete…", isDangerous: true, onChoose: () => setDeleted(extension) },
  ];
  const action = may(me, "extensions.create") && !me?.isLimited && <PublishExtension />;
  return (
    <SettingsFrame segment="extensions" action={action}>
      {link.failure && <Failed failure={link.failure} />}
      <ResourceList label="Extensions" rows={rows} columns={columnsOf(items)} none="There is no extension." />
      {deleted && (
        <DeleteDialog
          operation={extensions.delete}
          input={{ id: deleted.id }}
          stale={[extensions.list]}
          title={`Delete ${deleted.displayName}?`}
          deed="Delete all its versions"
          done={`${deleted.displayName} is deleted.`}
          typedName={deleted.name}
          onClose={() => setDeleted(undefined)}
        >
          <p>All its versions are deleted, and viewers no longer load it. This cannot be undone.</p>
        </DeleteDialog>
      )}
    </SettingsFrame>
  );
}

function columnsOf(items: (extension: Extension) => RowActions): readonly Column<Extension>[] {
  return [
    { name: "Name", width: "minmax(140px, 1fr)", narrow: "title", cell: ({ displayName }) => displayName },
    { name: "Publisher", width: "minmax(100px, 1fr)", narrow: "sub", cell: ({ publisher }) => publisher },
    { name: "Version", width: "100px", narrow: "sub-end", cell: ({ activeVersion }) => activeVersion ?? "—" },
    {
      name: "What it is",
      width: "minmax(140px, 2fr)",
      cell: ({ description }) => (
        <span title={showHidden(description ?? "")}>
          <ForeignText text={description ?? "—"} />
        </span>
      ),
    },
    actionsColumn<Extension>({ nameOf: ({ displayName }) => displayName, items }),
  ];
}
