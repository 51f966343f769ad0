import assert from "node:assert/strict";
import { test } from "node:test";
import { Email } from "./email.ts";

test("an e-mail address has one normal form: in lower case, without forms of letters that are the same", () => {
  for (const typed of [
    "ada@example.org",
    " Ada@Example.ORG ",
    "ａｄａ＠example.org",
    "ᴬda@example.org",
    "\u{1d41a}da@example.org",
  ])
    assert.equal(Email.parse(typed), "ada@example.org", typed);
  assert.equal(Email.parse("zoe\u0308@example.org"), Email.parse("zoë@example.org"));
  for (const other of [
    "почта@пример.рф",
    "ταχυ@παράδειγμα.ελ",
    "josé@example.org",
    "山田@例え.jp",
    "a'b+c@example.org",
  ])
    assert.equal(Email.parse(Email.parse(other)), Email.parse(other));
});

const refused: [whose: string, address: string, sentence: RegExp][] = [
  ["with a zero-width space", "ada\u200b@example.org", /cannot be seen/],
  ["with a joiner", "a\u200dda@example.org", /cannot be seen/],
  ["with a soft hyphen", "ada@exam\u00adple.org", /cannot be seen/],
  ["with a change of direction", "\u202eada@example.org", /cannot be seen/],
  ["with a selector of a variant", "ada\ufe0f@example.org", /cannot be seen/],
  ["with a control", "ada\u0007@example.org", /cannot be seen/],
  ["with a filler", "ada\u3164@example.org", /cannot be seen/],
  ["with a Cyrillic a", "ad\u0430@example.org", /in one script/],
  ["with a Cyrillic name at a Latin domain", "\u0441\u043e\u0440@example.org", /in one script/],
  ["with a Greek omicron in the domain", "ada@example.\u03bfrg", /in one script/],
  ["with Cyrillic and Greek", "\u03bf\u043e@\u03bf.\u03bf", /in one script/],
  ["with two signs @, of which one is wide", "ada＠x@example.org", /must be an e-mail address$/m],
];
for (const [whose, address, sentence] of refused)
  test(`an e-mail address ${whose} is refused with a sentence`, () => {
    const { error } = Email.safeParse(address);
    assert.match(error?.issues.map(({ message }) => message).join("\n") ?? "", sentence);
  });
