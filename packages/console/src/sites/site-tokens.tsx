import { inboxTokens, type Me, type Site, type SiteToken, siteTokens } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { mayCall } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useRows } from "../api/use-rows.ts";
import { Button } from "../parts/button.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { ExpiryField, expiryOf } from "../parts/expiry-field.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { ResourceList } from "../parts/resource-list.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import type { Column } from "../parts/table.tsx";
import { tokenColumns } from "../parts/token-columns.tsx";

interface OfSite {
  readonly site: Site;
  readonly me: Me;
}

/** Lists the tokens by which the machine of a site calls. */
export function SiteTokenList(props: OfSite) {
  return (
    <TokenSection
      {...props}
      title="Tokens"
      operations={siteTokens}
      lost="The machine that uses it is refused from then on, until it has another one."
    >
      <p class="muted">The machine of the site calls with one of them.</p>
    </TokenSection>
  );
}

/** Lists the tokens by which a bucket notifies of new objects. */
export function InboxTokenList(props: OfSite) {
  return (
    <TokenSection
      {...props}
      title="Tokens for notifications"
      operations={inboxTokens}
      lost="The bucket's notifications with it are refused from then on. New objects are then found only when the bucket is listed."
    >
      <p class="muted">
        The bucket's provider uses one of them to notify of new objects. Its messages go to{" "}
        <code>{location.origin}/endpoints/inbox-notifications?token=…</code>
      </p>
    </TokenSection>
  );
}

type Deed =
  | { readonly is: "make" }
  | { readonly is: "made"; readonly secret: string }
  | { readonly is: "delete"; readonly token: SiteToken }
  | undefined;

interface SectionProps extends OfSite {
  readonly title: string;
  readonly operations: typeof siteTokens | typeof inboxTokens;
  /** Says what happens when one is deleted. */
  readonly lost: string;
  readonly children: ComponentChildren;
}

/** The tokens of both kinds are listed, made and deleted alike. */
function TokenSection({ title, site: { id: siteId }, me, operations: given, lost, children }: SectionProps) {
  const operations = given as typeof siteTokens;
  const rows = useRows(operations.list, { siteId });
  const [deed, setDeed] = useState<Deed>();
  const columns: readonly Column<SiteToken>[] = mayCall(me, operations.delete)
    ? [...tokenColumns<SiteToken>(), deleteColumn((token) => setDeed({ is: "delete", token }))]
    : tokenColumns<SiteToken>();
  return (
    <section class="section" aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        <span class="grow" />
        {mayCall(me, operations.create) && <Button text="New token" onClick={() => setDeed({ is: "make" })} />}
      </header>
      {children}
      <ResourceList label={title} rows={rows} columns={columns} none="There is no token." />
      <TokenDialogs {...{ operations, siteId, lost, deed, setDeed }} />
    </section>
  );
}

interface DialogsProps {
  readonly operations: typeof siteTokens;
  readonly siteId: string;
  readonly lost: string;
  readonly deed: Deed;
  readonly setDeed: (deed: Deed) => void;
}

function TokenDialogs({ operations, siteId, lost, deed, setDeed }: DialogsProps) {
  const onClose = () => setDeed(undefined);
  if (deed?.is === "make")
    return <NewToken {...{ operations, siteId, onClose, onMade: (secret) => setDeed({ is: "made", secret }) }} />;
  if (deed?.is === "made")
    return (
      <SecretDialog title="The new token" secret={deed.secret} onClose={onClose}>
        <p>Give it to the machine that needs it, as a secret.</p>
      </SecretDialog>
    );
  if (deed?.is !== "delete") return null;
  const { id, hint } = deed.token;
  return (
    <DeleteDialog
      operation={operations.delete}
      input={{ id }}
      stale={[operations.list]}
      title={`Delete the token${hint ? ` that ends with ${hint}` : ""}?`}
      deed="Delete the token"
      done="The token is deleted."
      onClose={onClose}
    >
      <p>{lost} This cannot be undone.</p>
    </DeleteDialog>
  );
}

interface NewProps extends Pick<DialogsProps, "operations" | "siteId"> {
  readonly onMade: (secret: string) => void;
  readonly onClose: () => void;
}

function NewToken({ operations, siteId, onMade, onClose }: NewProps) {
  const { run, isRunning, failure } = useChange(operations.create, operations.list);
  const [days, setDays] = useState("");
  const make = async () => {
    const made = await run({ siteId, ...expiryOf(days) });
    if (made?.token) onMade(made.token);
  };
  return (
    <FormDialog {...{ isRunning, failure, onClose }} title="New token" deed="Make the token" onSubmit={make}>
      <ExpiryField onChange={setDays} />
    </FormDialog>
  );
}

function deleteColumn(onDelete: (token: SiteToken) => void): Column<SiteToken> {
  return {
    name: "Actions",
    width: "84px",
    narrow: "end",
    cell: (token) => (
      <Button
        text="Delete…"
        class="small danger"
        aria-label={`Delete the token …${token.hint ?? token.id}`}
        onClick={() => onDelete(token)}
      />
    ),
  };
}
