// A cursor of a dataset's episodes is valid for the version that was shown. After a commit it is `CursorRejected`, because pages of two
// versions make no list. Cursors of a numbered version stay valid.

import type { Answer, api, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { closePage, openPage } from "../../calls/search/cursor-page.ts";
import type { Complete } from "../../core/complete.ts";
import type { DatasetModel } from "../../db/generated/models.ts";
import { episodeConditions, requireRecording } from "../episodes/find-episodes.ts";
import { findMembers } from "./find-members.ts";
import { showMembers } from "./show-members.ts";

type List = (typeof api.datasetVersions)["listEpisodes"];

interface Listed {
  /** The name of the list, which keeps cursors of other lists out. */
  readonly list: string;
  readonly dataset: DatasetModel;
  readonly query: Input<List>;
}

/** Reads first the members of the page, from narrow rows, and then their episodes. */
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
