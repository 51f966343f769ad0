// Two people whose addresses look alike could be taken for each other, where one is invited or is let in. So a new account's address has one
// normal form, and what looks like another address is none.

import { StorableText } from "./text.ts";

const example = "ada@example.org";
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;
/** Also with the signs @ that the normal form makes an ordinary one. */
const TYPED_ADDRESS = /^[^\s@＠﹫]+[@＠﹫][^\s@＠﹫]+$/;
/** Controls, and characters without a width or without ink. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Scripts of which many letters look alike. */
const LOOKALIKES = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u];

/** The address of an account that is made now, in its normal form: NFKC, in lower case. */
export const Email = StorableText.trim()
  .normalize("NFKC")
  .toLowerCase()
  .normalize("NFKC")
  .max(254)
  .regex(ADDRESS, "must be an e-mail address")
  .refine((text) => !UNSEEN.test(text), "must be an e-mail address without characters that cannot be seen")
  .refine(
    (text) => LOOKALIKES.filter((script) => script.test(text)).length <= 1,
    "must be an e-mail address in one script: letters of Latin, Cyrillic and Greek look alike",
  )
  .meta({ example });

/** An address as it is typed to sign in. That of an older account need not have the normal form. */
export const TypedEmail = StorableText.trim()
  .toLowerCase()
  .max(254)
  .regex(TYPED_ADDRESS, "must be an e-mail address")
  .meta({ example });
