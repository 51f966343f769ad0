import type { TokenMaker } from "@downlink/protocol";
import { Badge } from "./badge.tsx";
import { lastUse } from "./last-use.ts";
import type { Column } from "./table.tsx";
import { Age } from "./time.tsx";

/** The facts that are shown of every kind of token. */
export interface TokenFacts {
  readonly createdAt: bigint;
  readonly hint?: string | undefined;
  readonly createdBy?: TokenMaker | undefined;
  readonly lastUsedAt?: bigint | undefined;
  readonly expiresAt?: bigint | undefined;
}

/** Returns the columns that distinguish a token from others without its text, and show whether it is still used. */
export function tokenColumns<T extends TokenFacts>(): readonly Column<T>[] {
  return [
    { name: "Ends with", width: "84px", narrow: "sub", cell: ({ hint }) => (hint ? <code>…{hint}</code> : "—") },
    {
      name: "Last used",
      width: "minmax(96px, 1fr)",
      narrow: "sub-end",
      cell: (token) => <LastUse {...token} />,
    },
    { name: "Expires", width: "minmax(90px, 1fr)", cell: ({ expiresAt }) => <Expiry expiresAt={expiresAt} /> },
    { name: "Made", width: "minmax(96px, 1fr)", spare: 3, cell: ({ createdAt }) => <Age timeNs={createdAt} /> },
    {
      name: "By",
      width: "minmax(70px, 1fr)",
      spare: 1,
      cell: ({ createdBy }) => createdBy?.name ?? createdBy?.id ?? "—",
    },
  ];
}

/** Rows of two lines have no head that says what the time is of. */
function LastUse({ createdAt, lastUsedAt }: TokenFacts) {
  return (
    <>
      <span class="narrow-only">used </span>
      {lastUsedAt === undefined ? "never" : <Age timeNs={lastUse({ createdAt, lastUsedAt })} />}
    </>
  );
}

function Expiry({ expiresAt }: { expiresAt: bigint | undefined }) {
  if (expiresAt === undefined) return <>never</>;
  if (expiresAt <= BigInt(Date.now()) * 1_000_000n) return <Badge sign="▲" tone="failed" text="expired" />;
  return <Age timeNs={expiresAt} />;
}
