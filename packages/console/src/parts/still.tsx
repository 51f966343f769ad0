import type { Recording } from "@downlink/protocol";
import { fetchThumbnail } from "../api/fetch-thumbnail.ts";
import { may, useMe } from "../api/me.ts";
import { useFetched } from "../api/use-query.ts";
import "./still.css";

/** Shows what a camera of a recording saw in its middle; nothing where there is no picture. */
export function Still({ recording: { id, importStatus } }: { readonly recording: Recording }) {
  const { data: me } = useMe();
  const isEnabled = importStatus === "complete" && may(me, "data.stream");
  const { data, isOld } = useFetched(["thumbnail", id], () => fetchThumbnail(id), { isEnabled });
  if (!data || isOld || !isEnabled) return null;
  return <img class="still" src={data.link} alt="" loading="lazy" decoding="async" />;
}
