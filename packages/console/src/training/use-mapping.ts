import { type DatasetMapping, datasetMappings, trainingSets } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { type Pages, usePages } from "../api/use-pages.ts";
import { formatMapping, type ReadMapping, readMapping } from "./mapping-text.ts";

/** Stands for the draft among the ids of mappings that are kept. */
export const DRAFT = "draft";
/** The most mappings among which one can choose. */
const MOST_KEPT = 200;

export interface EditedMapping extends ReadMapping {
  readonly text: string;
  /** The text is not what was drafted or is kept. */
  readonly isChanged: boolean;
  /** The id of the mapping on which the text is based, or `DRAFT`. */
  readonly chosenId: string;
  readonly kept: Pages<DatasetMapping>;
  /** The remarks of the service about its draft. */
  readonly notes: readonly string[];
  readonly draft: {
    readonly isRunning: boolean;
    readonly failure: ReturnType<typeof useChange>["failure"];
    run(): void;
  };
  type(text: string): void;
  /** Shows another one. A text that was typed comes back when its mapping is chosen again. */
  choose(id: string): void;
  /** Shows the mapping as which the text was kept. */
  take(keptId: string): void;
}

/** Holds the mapping that is edited: the latest kept one, or a draft where there is none, and what was typed into each. */
export function useMapping(id: string, versionNumber: number): EditedMapping {
  const query = { id, sortOrder: "desc" as const, limit: MOST_KEPT };
  const kept = usePages(datasetMappings.list, query, { rowsOf: ({ mappings }) => mappings });
  const { run, isRunning, failure } = useChange(trainingSets.draft);
  const { data: me } = useMe();
  const [drafted, setDrafted] = useState<{ readonly text: string; readonly notes: readonly string[] } | undefined>();
  const [chosen, setChosen] = useState<string | undefined>();
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const forget = (one: string) => setTyped(({ [one]: _, ...others }) => others);
  const askDraft = async () => {
    const answer = await run({ id, versionNumber });
    if (!answer) return;
    setDrafted({ text: answer.mapping ? formatMapping(answer.mapping) : "", notes: answer.notes });
    forget(DRAFT);
    setChosen(DRAFT);
  };
  const isWanted = !kept.isNew && kept.rows.length === 0 && may(me, "data.stream");
  useEffect(() => {
    if (isWanted && !drafted) void askDraft();
  }, [isWanted]);
  const base = kept.rows.find((one) => one.id === chosen) ?? (chosen === DRAFT ? undefined : kept.rows[0]);
  const chosenId = base?.id ?? DRAFT;
  const given = base ? formatMapping(base.mapping) : (drafted?.text ?? "");
  const text = typed[chosenId] ?? given;
  return {
    ...readMapping(text),
    ...{ text, chosenId, kept, isChanged: text !== given, choose: setChosen },
    notes: base ? [] : (drafted?.notes ?? []),
    draft: { isRunning, failure, run: () => void askDraft() },
    type: (one) => setTyped({ ...typed, [chosenId]: one }),
    take: (keptId) => {
      forget(chosenId);
      setChosen(keptId);
    },
  };
}
