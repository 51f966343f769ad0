import { type AuditEntry, audit } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { usePages } from "../../api/use-pages.ts";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { MoreRows } from "../../parts/more-rows.tsx";
import { showHidden } from "../../parts/show-hidden.ts";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UrlProblems } from "../../parts/url-problems.tsx";
import { zoneName } from "../../time/format-time.ts";
import { zone } from "../../time/zone.ts";
import { useParams } from "../../url/use-params.ts";
import { SettingsFrame } from "../settings-frame.tsx";
import { AuditFilterBar } from "./audit-filter-bar.tsx";
import { auditParams, toAuditQuery } from "./audit-filters.ts";
import { EntryDialog } from "./entry-dialog.tsx";
import { kindWords, operationWords, resourceText } from "./operation-words.ts";

const PAGE_ROWS = 100;

export function AuditTab() {
  const { data: me } = useMe();
  const params = useParams(auditParams);
  const [openedMs] = useState(Date.now());
  const query = { ...toAuditQuery(params.values, openedMs), limit: PAGE_ROWS };
  const isEnabled = mayCall(me, audit.list);
  const pages = usePages(audit.list, query, { isEnabled, rowsOf: (entries) => entries });
  const { rows, isNew } = pages;
  const [shown, setShown] = useState<AuditEntry | undefined>();
  return (
    <SettingsFrame segment="audit">
      <UrlProblems problems={params.problems} />
      <AuditFilterBar {...params} />
      {!isNew && rows.length === 0 && <Empty title="No change matches the filters." />}
      {rows.length > 0 && (
        <Table
          label="Audit log"
          columns={columnsOf(zoneName(zone.value), setShown)}
          count={rows.length}
          rowAt={(index) => rows[index]}
          onOpen={setShown}
        />
      )}
      <MoreRows pages={pages} />
      {shown && <EntryDialog entry={shown} onClose={() => setShown(undefined)} />}
    </SettingsFrame>
  );
}

function columnsOf(zoneOf: string, onShow: (entry: AuditEntry) => void): readonly Column<AuditEntry>[] {
  return [
    { name: `When (${zoneOf})`, width: "158px", narrow: "sub", cell: ({ at }) => <Time timeNs={at} /> },
    {
      name: "Change",
      width: "minmax(160px, 1fr)",
      narrow: "title",
      cell: (entry) => (
        <Button
          text={operationWords(entry.operation)}
          title={entry.operation}
          class="plain small"
          tabIndex={-1}
          onClick={() => onShow(entry)}
        />
      ),
    },
    { name: "By", width: "minmax(120px, 1fr)", narrow: "sub-end", cell: ({ actor }) => actorText(actor) },
    {
      name: "On",
      width: "minmax(150px, 1fr)",
      cell: (entry) => (
        <span title={showHidden(entry.resourceId)}>
          <ForeignText text={resourceText(entry)} />
        </span>
      ),
    },
    { name: "From", width: "minmax(90px, 140px)", spare: 1, cell: ({ address }) => address ?? "—" },
  ];
}

function actorText({ kind, id, name }: AuditEntry["actor"]): string {
  return name ?? [kindWords(kind), id].filter(Boolean).join(" ");
}
