// A cursor of a dataset's episodes holds for the version that was shown; after a commit it is `CursorRejected`,
// because pages of two versions make no list. Those of a numbered version last.

import type { Answer, api, Input } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import type { DatasetModel } from "../db/generated/models.ts";
import { episodeConditions, requireRecording } from "../episodes/find-episodes.ts";
import { closePage, openPage } from "../search/cursor-page.ts";
import { findMembers } from "./find-members.ts";
import { showMembers } from "./show-members.ts";

type List = (typeof api.datasetVersions)["listEpisodes"];

interface Listed {
  /** The name of the list, of which others' cursors are none. */
  readonly list: string;
  readonly dataset: DatasetModel;
  readonly query: Input<List>;
}

/** The members of the page first, from narrow rows; then their episodes. */
export async function listVersionEpisodes(ctx: Ctx, { list, dataset, query }: Listed): Promise<Complete<Answer<List>>> {
  const { sortBy = "addedAt", versionNumber, hasMissingRecordings: hasMissing, include } = query;
  const conditions = episodeConditions(query);
  const page = openPage(ctx, list, { ...query, sortBy });
  await requireRecording(ctx, query);
  const found = await findMembers(ctx, {
    datasetId: dataset.id,
    versionNumber,
    page,
    column: columns[sortBy],
    conditions,
    hasMissing,
  });
  const { rows, headers } = closePage(ctx, page, found);
  return { output: { episodes: await showMembers(ctx, rows, include) }, headers };
}

const columns = { addedAt: "addedAtNs", createdAt: "createdAtNs", startTime: "startNs", endTime: "endNs" } as const;
