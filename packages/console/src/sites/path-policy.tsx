import { type IngestPathRule, ingestPathPolicies, MAX_PATH_RULES, type Me, type Site } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { mayCall } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { Failed } from "../parts/failed.tsx";
import { Age } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { isSamePolicy } from "./policy-draft.ts";
import { RuleList } from "./rule-list.tsx";

interface Draft {
  /** The revision that the rules were begun from; 0 while none was saved. */
  readonly from: number;
  readonly rules: readonly IngestPathRule[];
}

/** Edits the rules for the objects in a bucket, by their names. Typed rules stay when another user saved meanwhile. */
export function PathPolicy({ site: { id }, me }: { site: Site; me: Me }) {
  const current = useQuery(ingestPathPolicies.get, { id }, { isEnabled: mayCall(me, ingestPathPolicies.get) });
  const save = useChange(ingestPathPolicies.save, ingestPathPolicies.get);
  const [draft, setDraft] = useState<Draft | undefined>();
  const revision = current.failure?.kind === "missing" ? 0 : current.data?.revision;
  const rules = (revision ? current.data?.policy.rules : undefined) ?? [];
  useEffect(() => {
    if (revision !== undefined) setDraft((before) => before ?? { from: revision, rules });
  }, [revision]);
  if (!mayCall(me, ingestPathPolicies.get)) return null;
  const isChanged = draft !== undefined && !isSamePolicy(draft.rules, rules);
  const isBehind = draft !== undefined && revision !== undefined && draft.from !== revision;
  const onSave = async (previousRevision: number) => {
    const saved = await save.run({ id, schemaVersion: 1, rules: [...draft!.rules], previousRevision });
    if (!saved) return;
    setDraft({ from: saved.revision, rules: saved.policy.rules });
    toast(`Revision ${saved.revision} applies from now on.`);
  };
  const mayChange = mayCall(me, ingestPathPolicies.save);
  return (
    <section class="section" aria-label="Paths">
      <h2>Which objects are imported</h2>
      <Now {...{ revision, createdAt: current.data?.createdAt }} />
      {current.failure && revision !== 0 && <Failed failure={current.failure} again={current.again} />}
      {draft && (
        <RuleList
          rules={draft.rules}
          isFixed={!mayChange}
          onChange={(changed) => {
            save.clear();
            setDraft({ ...draft, rules: changed });
          }}
        />
      )}
      {save.failure && <Failed failure={save.failure} />}
      {draft && mayChange && revision !== undefined && (
        <Buttons
          {...{ draft, revision, isChanged, isBehind, isRunning: save.isRunning }}
          onSave={(previous) => void onSave(previous)}
          onTake={() => setDraft({ from: revision, rules })}
          onAdd={() => setDraft({ ...draft, rules: [...draft.rules, { pattern: "", action: { type: "import" } }] })}
        />
      )}
    </section>
  );
}

function Now({ revision, createdAt }: { revision: number | undefined; createdAt: bigint | undefined }) {
  if (revision === undefined) return null;
  if (revision === 0) return <p class="muted">No policy was ever saved: every object is imported.</p>;
  return (
    <p class="muted">
      Revision {revision}
      {createdAt !== undefined && (
        <>
          , <Age timeNs={createdAt} />
        </>
      )}
      . The first rule that matches the name of an object decides; an object that matches no rule is ignored.
    </p>
  );
}

interface ButtonsProps {
  readonly draft: Draft;
  readonly revision: number;
  readonly isChanged: boolean;
  readonly isBehind: boolean;
  readonly isRunning: boolean;
  readonly onSave: (previousRevision: number) => void;
  readonly onTake: () => void;
  readonly onAdd: () => void;
}

function Buttons({ draft, revision, isChanged, isBehind, isRunning, onSave, onTake, onAdd }: ButtonsProps) {
  return (
    <>
      <div class="row">
        <Button text="Add a rule" disabled={draft.rules.length >= MAX_PATH_RULES} onClick={onAdd} />
        <span class="grow" />
        {isChanged && <Button text="Discard my changes" onClick={onTake} />}
        <Button
          text={`Save as revision ${revision + 1}`}
          class="primary"
          disabled={!isChanged || isBehind || isRunning}
          onClick={() => onSave(draft.from)}
        />
      </div>
      {isBehind && isChanged && (
        <div class="failure stack" role="alert">
          <p>
            <strong>Somebody else saved revision {revision} meanwhile.</strong> Your rules, begun from revision{" "}
            {draft.from}, are still above.
          </p>
          <div class="row">
            <Button
              text={`Save mine over revision ${revision}`}
              class="danger"
              disabled={isRunning}
              onClick={() => onSave(revision)}
            />
            <Button text={`Take revision ${revision}`} onClick={onTake} />
          </div>
        </div>
      )}
    </>
  );
}
