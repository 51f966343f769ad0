import { me as meContract, type SignInSession } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useMe } from "../../api/me.ts";
import { isSignedOut } from "../../api/queries.ts";
import { useQuery } from "../../api/use-query.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { Failed } from "../../parts/failed.tsx";
import { ProgressLine } from "../../parts/progress-line.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Age } from "../../parts/time.tsx";
import { actionsColumn } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { ChangePassword } from "./change-password.tsx";

type Deed = { readonly is: "one"; readonly session: SignInSession } | { readonly is: "all" } | undefined;

/** Shows the sessions of the user, and changes their password. */
export function AccountTab() {
  const { data: me } = useMe();
  const { data, failure, isLoading, again } = useQuery(meContract.listSessions, {});
  const [deed, setDeed] = useState<Deed>();
  const action = data && data.length > 0 && (
    <Button text="End all sessions…" class="danger" onClick={() => setDeed({ is: "all" })} />
  );
  return (
    <SettingsFrame segment="account" action={action}>
      <ProgressLine isOn={isLoading} />
      {failure && <Failed {...{ failure, again }} />}
      {data && (
        <Table
          label="Sessions"
          columns={columnsOf((session) => setDeed({ is: "one", session }))}
          count={data.length}
          rowAt={(index) => data[index]}
        />
      )}
      {me?.kind === "member" && <ChangePassword />}
      <EndDialog {...{ deed, onClose: () => setDeed(undefined), count: data?.length ?? 0 }} />
    </SettingsFrame>
  );
}

interface EndProps {
  readonly deed: Deed;
  readonly count: number;
  readonly onClose: () => void;
}

function EndDialog({ deed, count, onClose }: EndProps) {
  const stale = [meContract.listSessions];
  const signOut = () => {
    isSignedOut.value = true;
  };
  if (deed?.is === "all")
    return (
      <DeleteDialog
        {...{ stale, onClose, onDone: signOut, operation: meContract.endSessions, input: {} }}
        title="End all sessions?"
        deed={count === 1 ? "End the session" : `End all ${count} sessions`}
        done="All sessions have ended."
      >
        <p>You are signed out here, too, and programs that you let in must ask again.</p>
      </DeleteDialog>
    );
  if (deed?.is !== "one") return null;
  const { id, address, isCurrent } = deed.session;
  return (
    <DeleteDialog
      {...{ stale, onClose, operation: meContract.endSession, input: { id } }}
      title={isCurrent ? "End this session?" : "End a session?"}
      deed="End the session"
      done="The session has ended."
      onDone={() => isCurrent && signOut()}
    >
      <p>
        {isCurrent
          ? "You are signed out here."
          : `The browser or program that uses it, from ${address ?? "an unknown address"}, is signed out at once.`}
      </p>
    </DeleteDialog>
  );
}

function columnsOf(onEnd: (session: SignInSession) => void): readonly Column<SignInSession>[] {
  return [
    {
      name: "From",
      width: "minmax(140px, 2fr)",
      narrow: "title",
      cell: ({ address, isCurrent }) => (
        <>
          {address ?? "—"} {isCurrent && <Badge sign="●" tone="good" text="this one" />}
        </>
      ),
    },
    { name: "Last used", width: "140px", narrow: "sub", cell: ({ lastUsedAt }) => <Age timeNs={lastUsedAt} /> },
    { name: "Began", width: "140px", cell: ({ createdAt }) => <Age timeNs={createdAt} /> },
    { name: "Ends", width: "140px", narrow: "sub-end", cell: ({ expiresAt }) => <Age timeNs={expiresAt} /> },
    actionsColumn<SignInSession>({
      nameOf: ({ address, isCurrent }) => (isCurrent ? "this session" : `the session from ${address ?? "—"}`),
      items: (session) => [{ text: "End…", isDangerous: true, onChoose: () => onEnd(session) }],
    }),
  ];
}
