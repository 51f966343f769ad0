import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { memberText } from "./member-text.ts";

const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const name = fc.oneof(fc.constantFrom("data", "__proto__", "1", 'd"\\'), fc.string());
const value = fc.jsonValue();

test("a member's text is returned unchanged, whatever surrounds it, and of repeated names the last one counts", () => {
  const members = fc.array(fc.record({ name, value, indent: fc.constantFrom(undefined, 2), space }));
  fc.assert(
    fc.property(members, space, (list, around) => {
      const texts = list.map((member) => JSON.stringify(member.value, null, member.indent));
      const written = list.map((member, index) => {
        const { space: gap } = member;
        return `${gap}${JSON.stringify(member.name)}${gap}:${gap}${texts[index]}${gap}`;
      });
      const json = `${around}{${written.join(",")}${around}}${around}`;
      JSON.parse(json);
      const last = list.findLastIndex((member) => member.name === "data");
      assert.equal(memberText(json, "data"), texts[last]);
    }),
  );
});

test("a name is the same however it is escaped, and only the outermost object counts", () => {
  assert.equal(memberText('{"d\\u0061ta":1}', "data"), "1");
  assert.equal(memberText('{"a":{"data":1},"b":["data",{"data":2}]}', "data"), undefined);
  assert.equal(memberText("{ }", "data"), undefined);
  assert.equal(memberText("", "data"), undefined);
});

test("values are found at any depth of nesting", () => {
  const deep = `${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`;
  assert.equal(memberText(`{"before":${deep},"data":${deep} }`, "data"), deep);
});
