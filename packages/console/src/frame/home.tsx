import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useMe } from "../api/me.ts";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { pagePath, rememberedProject } from "../url/project.ts";

/** Leads from the bare address to a page of the project that was looked at last, or else of the first. */
export function Home({ segment }: { segment: string }) {
  const { route } = useLocation();
  const { data: me, failure, again } = useMe();
  const remembered = rememberedProject();
  const project = me?.projects.find(({ id }) => id === remembered) ?? me?.projects[0];
  useEffect(() => {
    if (project) route(pagePath(project.id, segment), true);
  }, [project?.id]);
  if (failure && failure.kind !== "signedOut") return <Failed {...{ failure, again }} />;
  if (me && !project) return <Empty title="There is no project that you may see." />;
  return null;
}
