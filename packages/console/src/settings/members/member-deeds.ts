import type { Invitation, Member } from "@downlink/protocol";

/** An action on the page of the members, whose dialog is open. */
export type Deed =
  | { readonly is: "invite" }
  | { readonly is: "link"; readonly title: string; readonly link: string; readonly expiresAt: bigint }
  | { readonly is: "withdraw"; readonly invitation: Invitation }
  | { readonly is: "remove"; readonly member: Member }
  | undefined;
