import { type Site, SiteType, sites } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { mayCall, useMe } from "../api/me.ts";
import { useRows } from "../api/use-rows.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { ResourceList } from "../parts/resource-list.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { UrlProblems } from "../parts/url-problems.tsx";
import { choiceParam } from "../url/params.ts";
import { useParams } from "../url/use-params.ts";
import { NewSite } from "./new-site.tsx";
import { siteColumns } from "./site-columns.tsx";
import { SITE_TYPES } from "./site-types.ts";
import "./sites.css";

const params = { type: choiceParam<SiteType | "">([...SiteType.options, ""], "") };

/** Lists the sites: where recordings are kept, and where files come from that no robot uploads itself. */
export function SitesPage() {
  const { data: me } = useMe();
  const { route } = useLocation();
  const { values, problems, hrefWith } = useParams(params);
  const isEnabled = mayCall(me, sites.list);
  const rows = useRows(sites.list, {}, { isEnabled });
  const [isMaking, setMaking] = useState(false);
  if (me && !isEnabled) return <Empty title="You may not see the sites." />;
  return (
    <div class="sites">
      <header class="row">
        <h1>Sites</h1>
        <span class="grow" />
        {mayCall(me, sites.create) && <Button text="New site" class="primary" onClick={() => setMaking(true)} />}
      </header>
      <UrlProblems problems={problems} />
      <Tabs
        label="Types of sites"
        tabs={[
          { name: "All", href: hrefWith({ type: "" }), isCurrent: values.type === "" },
          ...SiteType.options.map((type) => {
            return { name: SITE_TYPES[type].name, href: hrefWith({ type }), isCurrent: values.type === type };
          }),
        ]}
      />
      {values.type !== "" && <p class="muted">{SITE_TYPES[values.type].meaning}</p>}
      <ResourceList
        label="Sites"
        rows={ofType(rows, values.type)}
        columns={siteColumns}
        onOpen={({ id }) => route(`/sites/${encodeURIComponent(id)}`)}
        none={values.type === "" ? "There is no site." : `There is no site of this type.`}
      />
      {isMaking && me && (
        <NewSite
          {...{ me, onClose: () => setMaking(false) }}
          onMade={(id) => route(`/sites/${encodeURIComponent(id)}`)}
        />
      )}
    </div>
  );
}

type SiteRows = ReturnType<typeof useRows<typeof sites.list>>;

/** Keeps the sites of a type among those that are here: an organization has few. */
function ofType(rows: SiteRows, type: SiteType | ""): SiteRows {
  if (type === "") return rows;
  const all = Array.from({ length: rows.count }, (_, index) => rows.at(index));
  const found = all.filter((site): site is Site => site?.type === type);
  return { ...rows, count: found.length, at: (index) => found[index] };
}
