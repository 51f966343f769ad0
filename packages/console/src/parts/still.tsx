import type { Recording } from "@downlink/protocol";
import { fetchThumbnail } from "../api/fetch-thumbnail.ts";
import { may, useMe } from "../api/me.ts";
import { useFetched } from "../api/use-query.ts";
import { formatDuration } from "../time/format-time.ts";
import { PictureAt } from "./picture-at.tsx";
import { PictureCard } from "./picture-card.tsx";
import "./still.css";

/** Shows what a camera of a recording saw in its middle; nothing where there is no picture. Below a mouse its others are shown, larger. */
export function Still({ recording }: { readonly recording: Recording }) {
  const { id, importStatus, start, end } = recording;
  const { data: me } = useMe();
  const isEnabled = importStatus === "complete" && may(me, "data.stream");
  const { data, isOld } = useFetched(["thumbnail", id], () => fetchThumbnail(id), { isEnabled });
  if (!data || isOld || !isEnabled) return null;
  const captionOf = (timeNs: bigint) => `${formatDuration(timeNs - start)} after the start`;
  const cardAt = (share: number) => (
    <PictureAt
      recordings={[recording]}
      atNs={start + BigInt(Math.round(share * Number(end - start)))}
      {...{ captionOf }}
    />
  );
  return (
    <PictureCard card={cardAt}>
      <img class="still" src={data.link} alt="" loading="lazy" decoding="async" />
    </PictureCard>
  );
}
