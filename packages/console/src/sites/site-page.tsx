import { inboxTokens, type Me, type Site, type SiteType, sites, siteTokens } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { mayCall, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { EditSite } from "./edit-site.tsx";
import { PathPolicy } from "./path-policy.tsx";
import { SiteState } from "./site-columns.tsx";
import { SiteFacts } from "./site-facts.tsx";
import { InboxTokenList, SiteTokenList } from "./site-tokens.tsx";
import "./sites.css";

const HEALTH_MS = 15_000;
/** The machines of such sites call with tokens. */
const TYPES_WITH_TOKENS: ReadonlySet<SiteType> = new Set(["edge", "self-hosted"]);

/** Shows one site: its state, its purpose, its tokens, and the rules for the files in a bucket. */
export function SitePage() {
  const id = useRoute().params.id!;
  const { data: me } = useMe();
  const isEnabled = mayCall(me, sites.list);
  const { data: site, failure, isLoading, again } = useQuery(sites.get, { id }, { isEnabled, pollMs: HEALTH_MS });
  return (
    <div class="sites">
      <header class="row">
        <a href="/sites">Sites</a>
        <span aria-hidden="true">›</span>
        <h1>{site?.name ?? id}</h1>
        {site && TYPES_WITH_TOKENS.has(site.type) && <SiteState site={site} />}
        <span class="grow" />
        {site && me && <Actions {...{ site, me }} />}
      </header>
      <ProgressLine isOn={isLoading && site === undefined} />
      {failure && <Failed {...{ failure, again }} />}
      {site && me && (
        <>
          <SiteFacts {...{ site, me }} />
          {TYPES_WITH_TOKENS.has(site.type) && mayCall(me, siteTokens.list) && <SiteTokenList {...{ site, me }} />}
          {site.type === "byob" && mayCall(me, inboxTokens.list) && <InboxTokenList {...{ site, me }} />}
          {site.type === "byob" && <PathPolicy {...{ site, me }} />}
        </>
      )}
    </div>
  );
}

function Actions({ site, me }: { site: Site; me: Me }) {
  const { route } = useLocation();
  const [deed, setDeed] = useState<"edit" | "delete" | undefined>();
  const onClose = () => setDeed(undefined);
  return (
    <>
      {mayCall(me, sites.update) && <Button text="Change…" onClick={() => setDeed("edit")} />}
      {mayCall(me, sites.delete) && <Button text="Delete…" class="danger" onClick={() => setDeed("delete")} />}
      {deed === "edit" && <EditSite {...{ site, me, onClose }} />}
      {deed === "delete" && (
        <DeleteDialog
          operation={sites.delete}
          input={{ id: site.id }}
          stale={[sites.list]}
          title={`Delete ${site.name}?`}
          deed="Delete the site for good"
          done={`${site.name} is deleted.`}
          typedName={site.name}
          onClose={onClose}
          onDone={() => route("/sites")}
        >
          <p>{LOSSES[site.type]}</p>
          <p>All its tokens go with it. This cannot be undone.</p>
        </DeleteDialog>
      )}
    </>
  );
}

/** Says what is deleted with a site of each type, and what stays. */
const LOSSES: Readonly<Record<SiteType, string>> = {
  "service-hosted": "It is refused while the site holds recordings or imports, and where it is the only one.",
  "self-hosted":
    "Recordings that are stored at it become unavailable: they stay listed, but cannot be viewed or downloaded. What is in its store stays there, and its process is refused.",
  edge: "Its agent is refused and uploads no more. What was imported stays; files that are only there are not listed any more. Nothing is deleted on its disk.",
  byob: "Its bucket is no longer read, and stays as it is. Recordings whose bytes are in the bucket become unavailable.",
};
