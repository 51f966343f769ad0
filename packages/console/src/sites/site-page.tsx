import { inboxTokens, type Me, type Site, sites, siteTokens } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { mayCall, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { DeleteSite } from "./delete-site.tsx";
import { EditSite } from "./edit-site.tsx";
import { PathPolicy } from "./path-policy.tsx";
import { SiteState } from "./site-columns.tsx";
import { SiteFacts } from "./site-facts.tsx";
import { InboxTokenList, SiteTokenList } from "./site-tokens.tsx";
import "./sites.css";

const HEALTH_MS = 15_000;

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
        {site && <SiteState site={site} />}
        <span class="grow" />
        {site && me && <Actions {...{ site, me }} />}
      </header>
      <ProgressLine isOn={isLoading && site === undefined} />
      {failure && <Failed {...{ failure, again }} />}
      {site && me && (
        <>
          <SiteFacts {...{ site, me }} />
          {hasTokens(site) && mayCall(me, siteTokens.list) && <SiteTokenList {...{ site, me }} />}
          {site.type === "byob" && mayCall(me, inboxTokens.list) && <InboxTokenList {...{ site, me }} />}
          {site.type === "byob" && <PathPolicy {...{ site, me }} />}
        </>
      )}
    </div>
  );
}

function hasTokens({ type }: Site): boolean {
  return type === "edge" || type === "self-hosted";
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
      {deed === "delete" && <DeleteSite {...{ site, onClose, onDone: () => route("/sites") }} />}
    </>
  );
}
