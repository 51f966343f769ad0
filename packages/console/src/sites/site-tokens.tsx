import { type InboxToken, inboxTokens, type Me, type Site, type SiteToken, siteTokens } from "@downlink/protocol";
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { mayCall } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { type Rows, useRows } from "../api/use-rows.ts";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/confirm.tsx";
import { ResourceList } from "../parts/resource-list.tsx";
import { SecretDialog } from "../parts/secret-dialog.tsx";
import type { Column } from "../parts/table.tsx";
import { toast } from "../parts/toast.tsx";
import { type TokenFacts, tokenColumns } from "../parts/token-columns.tsx";
import { NewToken } from "./new-token.tsx";

interface OfSite {
  readonly site: Site;
  readonly me: Me;
}

/** Lists the tokens by which the machine of a site calls. */
export function SiteTokenList({ site: { id: siteId }, me }: OfSite) {
  const rows = useRows(siteTokens.list, { siteId });
  const create = useChange(siteTokens.create, siteTokens.list);
  const remove = useChange(siteTokens.delete, siteTokens.list);
  return (
    <TokenSection<SiteToken>
      title="Tokens"
      {...{ rows, create, remove }}
      mayCreate={mayCall(me, siteTokens.create)}
      mayDelete={mayCall(me, siteTokens.delete)}
      onCreate={(expiry) => create.run({ siteId, ...expiry })}
      onDelete={(id) => remove.run({ id })}
      lost="The machine that uses it is refused from then on, until it has another one."
    >
      <p class="muted">The machine of the site calls with one of them.</p>
    </TokenSection>
  );
}

/** Lists the tokens by which a bucket notifies of new objects. */
export function InboxTokenList({ site: { id: siteId }, me }: OfSite) {
  const rows = useRows(inboxTokens.list, { siteId });
  const create = useChange(inboxTokens.create, inboxTokens.list);
  const remove = useChange(inboxTokens.delete, inboxTokens.list);
  return (
    <TokenSection<InboxToken>
      title="Tokens for notifications"
      {...{ rows, create, remove }}
      mayCreate={mayCall(me, inboxTokens.create)}
      mayDelete={mayCall(me, inboxTokens.delete)}
      onCreate={(expiry) => create.run({ siteId, ...expiry })}
      onDelete={(id) => remove.run({ id })}
      lost="The bucket's notifications with it are refused from then on. New objects are then found only when the bucket is listed."
    >
      <p class="muted">
        The bucket's provider uses one of them to notify of new objects. Its messages go to{" "}
        <code>{location.origin}/endpoints/inbox-notifications?token=…</code>
      </p>
    </TokenSection>
  );
}

type Deed<T> =
  | { readonly is: "make" }
  | { readonly is: "made"; readonly secret: string }
  | { readonly is: "delete"; readonly token: T }
  | undefined;

interface SectionProps<T> {
  readonly title: string;
  readonly rows: Rows<T>;
  readonly create: Pick<ReturnType<typeof useChange>, "failure" | "isRunning">;
  readonly remove: Pick<ReturnType<typeof useChange>, "failure">;
  readonly mayCreate: boolean;
  readonly mayDelete: boolean;
  readonly onCreate: (expiry: { expiresAt?: bigint }) => Promise<{ token?: string | undefined } | undefined>;
  readonly onDelete: (id: string) => Promise<unknown>;
  /** Says what happens when one is deleted. */
  readonly lost: string;
  readonly children: ComponentChildren;
}

type Token = TokenFacts & { readonly id: string };

function TokenSection<T extends Token>(props: SectionProps<T>) {
  const { title, rows, mayCreate, mayDelete, children } = props;
  const [deed, setDeed] = useState<Deed<T>>();
  const columns: readonly Column<T>[] = mayDelete
    ? [...tokenColumns<T>(), deleteColumn((token) => setDeed({ is: "delete", token }))]
    : tokenColumns<T>();
  return (
    <section class="section" aria-label={title}>
      <header class="row">
        <h2>{title}</h2>
        <span class="grow" />
        {mayCreate && <Button text="New token" onClick={() => setDeed({ is: "make" })} />}
      </header>
      {children}
      <ResourceList label={title} rows={rows} columns={columns} none="There is no token." />
      <TokenDialogs {...{ ...props, deed, setDeed }} />
    </section>
  );
}

function TokenDialogs<T extends Token>(
  props: SectionProps<T> & { readonly deed: Deed<T>; readonly setDeed: (deed: Deed<T>) => void },
) {
  const { deed, setDeed, create, remove, onCreate, onDelete, lost } = props;
  const onClose = () => setDeed(undefined);
  const make = async (expiry: { expiresAt?: bigint }) => {
    const made = await onCreate(expiry);
    if (made?.token) setDeed({ is: "made", secret: made.token });
  };
  if (deed?.is === "make") return <NewToken {...{ ...create, onClose }} onMake={(expiry) => void make(expiry)} />;
  if (deed?.is === "made")
    return (
      <SecretDialog title="The new token" secret={deed.secret} onClose={onClose}>
        <p>Give it to the machine that needs it, as a secret.</p>
      </SecretDialog>
    );
  if (deed?.is !== "delete") return null;
  const { id, hint } = deed.token;
  const confirm = async () => {
    if (!(await onDelete(id))) return;
    toast("The token is deleted.");
    onClose();
  };
  return (
    <Confirm
      title={`Delete the token${hint ? ` that ends with ${hint}` : ""}?`}
      deed="Delete the token"
      {...{ failure: remove.failure, onClose }}
      onConfirm={() => void confirm()}
    >
      <p>{lost} This cannot be undone.</p>
    </Confirm>
  );
}

function deleteColumn<T extends Token>(onDelete: (token: T) => void): Column<T> {
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
