// Checks that sources and documents do without the words that only their authors used, and that the sentences of comments and documents
// name their subject and the actor, because a reader who learnt English at school stops where they do not. Words that the field does not
// have, and that remain, are explained in `packages/cloud/glossary.md`.
import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "..");
const DOCS = ["{README,CONTRIBUTING}.md", "scripts/*.md", "docs/**/*.md", "packages/*/{,monitoring/}*.md"];
const SOURCES = ["packages/*/src/**/*.{ts,tsx}", "prisma/schema/*.prisma", "scripts/**/*.{ts,mjs}"];
/** This file lists the words, and generated files repeat names of the database. */
const OUTSIDE = /\/generated\/|^scripts\/check-words\.ts$/;

/** Names are separated into their words before: `tellFiles(` is read as "tell files(". */
const DIALECT: readonly { readonly words: RegExp; readonly instead: string }[] = [
  { words: /\b(un)?told(?! (to|apart)\b)|\btells? of\b|\btelling\b/, instead: "reported, listed or stated" },
  { words: /\btell( \w+)*\(|\b(const|let|function) tell\b/, instead: "notify, publish, report or print" },
  { words: /\bwish(es|ed)?\b/, instead: "request" },
  { words: /\bbells?\b/, instead: "signal" },
  { words: /\bgrounds?\b/, instead: "core" },
  { words: /\banew\b/, instead: "again, or start over" },
];
/** These names are in the state of agents and in migrations, which are never renamed. */
const STORED = /\b(TABLE|FROM|INTO|JOIN) wishes\b|\bwishes\.version_id\b|\bautoImportTold\b|\w+_tells_of_\w+/g;

const PLANTED = [
  "const untold = 1;",
  "tellFiles(all);",
  "ask(openWish);",
  "/** Rings the bell. */",
  "// as told by it",
  "askAnew(request);",
];
const ALLOWED = [
  "until it is told to stop",
  "the message tells a person what to do",
  "in the background",
  "FROM wishes",
];

/** How a sentence of a comment or of a document does not begin: it has a subject, and names the actor. */
const SENTENCES: readonly { readonly words: RegExp; readonly instead: string }[] = [
  { words: /^Of /, instead: "a subject: the largest…, the size of…" },
  { words: /^Who(ever)? |\bwhoever\b/, instead: "a client that…, any caller that…" },
  { words: /^What (?!.*\?$)/, instead: "the name of the thing" },
  { words: /(?<!`)\b(nobody|somebody)\b/i, instead: "the actor, or the passive" },
];
const PLAIN_PACKAGES = /^packages\/[a-z0-9]+\//;
const COMMENT = /(?<!["\w*])\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n?)+|[;{}),\]] \/\/ .*/gm;
/** Texts of the OpenAPI document. */
const SHOWN = /\b(?:description|summary|meaning):\s*(?:"([^"]*)"|`([^`]*)`)/g;
const PLANTED_COMMENTS = [
  "/** The newest. Of two the first. */",
  "// Who asks waits.",
  "/** Whoever asks waits. */",
  "/*\n * What it holds.\n */",
  "// The one that nobody needs.",
  'meta({ description: "Of the window; inclusive" })',
];
const ALLOWED_COMMENTS = [
  "// What does it cost?",
  "/** Says what it holds, and who asked. */",
  'const text = "What is missing.";',
  'const globs = ["**/*.bag. Of two. */"];',
];

/** What the sentences of a document are read without: blocks of code, headings, and the head row of a table. */
const UNREAD = /^([ \t]*)(```|~~~)[\s\S]*?^\1\2.*$|^#+ .*$|^[ \t]*\|.*\n(?=[ \t]*\|[ :|-]+\|[ \t]*$)/gm;
/** A row of a table, or a line and those below it up to an empty one, a list item or a row. */
const BLOCK = /^[ \t]*\|.*|^[ \t]*[^\s|].*(?:\n(?![ \t]*(?:[-*+] |\d+\. |\|))[ \t]*\S.*)*/gm;
const PLANTED_PROSE = [
  "It waits.\nWhat was deleted stays\ndeleted.",
  "- One.\n- Who asks waits.",
  "1. Without it nobody can\n   read them.",
  "| Name |\n|---|\n| `a` | Of two the first |",
  "**Two.** Of them the first.",
  "> Whoever asks waits.",
];
const ALLOWED_PROSE = [
  "What does it cost?",
  "Says what it holds, and who asked.",
  "## What it needs",
  "| What | Who may |\n|---|:---|\n| a | b |",
  "```sh\n# Who asks waits.\n```",
  "The user is `nobody`.",
  "See [What a file is](what-a-file-is.md).",
];

/** Functions of the control plane are verbs. */
const VERBLESS =
  /^\s*(?:export )?(?:async )?function\*? ((?:of|in|by|or|until|why|what|where|who|which|without|while|at|beyond|over|only|once|outside|every|some|again)(?=[A-Z<(])\w*)/;
const PLANTED_NAMES = ["function ofData() {", "export async function* inBatches<T>("];
const VERBS_IN = /^packages\/cloud\/src\/(?!(.*\/)?testing\/|.*\.(test|slow)\.ts$)/;

const paths = globSync([...DOCS, ...SOURCES], { cwd: ROOT }).filter((path) => !OUTSIDE.test(path));
const problems = [
  ...paths.sort().flatMap(findInFile),
  ...PLANTED.filter((line) => findWord(line) === undefined).map((line) => `planted and not found: ${line}`),
  ...ALLOWED.filter((line) => findWord(line) !== undefined).map((line) => `plain English and refused: ${line}`),
  ...PLANTED_NAMES.filter((line) => !VERBLESS.test(line)).map((line) => `planted and not found: ${line}`),
  ...PLANTED_COMMENTS.filter((text) => findSentences(text).length === 0).map(
    (text) => `planted and not found: ${text}`,
  ),
  ...ALLOWED_COMMENTS.filter((text) => findSentences(text).length > 0).map(
    (text) => `plain English and refused: ${text}`,
  ),
  ...PLANTED_PROSE.filter((text) => findInProse(text).length === 0).map((text) => `planted and not found: ${text}`),
  ...ALLOWED_PROSE.filter((text) => findInProse(text).length > 0).map((text) => `plain English and refused: ${text}`),
];
console.log(problems.length === 0 ? `${paths.length} files are in the field's words` : problems.join("\n"));
process.exitCode = problems.length === 0 ? 0 : 1;

function findInFile(path: string): string[] {
  const text = readFileSync(resolve(ROOT, path), "utf8");
  const words = text.split("\n").flatMap((line, index) => {
    const name = VERBS_IN.test(path) ? VERBLESS.exec(line)?.[1] : undefined;
    const found = name === undefined ? findWord(line) : `${name} is no verb`;
    return found === undefined ? [] : [`${path}:${index + 1}: ${found}: ${line.trim()}`];
  });
  return [...words, ...findSentencesIn(path, text).map((sentence) => `${path}:${sentence}`)];
}

function findSentencesIn(path: string, text: string): string[] {
  if (path.endsWith(".md")) return findInProse(text);
  return PLAIN_PACKAGES.test(path) && /\.tsx?$/.test(path) ? findSentences(text) : [];
}

/** Returns the sentences of comments and of the OpenAPI document that do without a subject or an actor, with their lines. */
function findSentences(source: string): string[] {
  return [...source.matchAll(COMMENT), ...source.matchAll(SHOWN)].flatMap(
    ({ 0: comment, 1: quoted, 2: shown = quoted, index }) => {
      const line = source.slice(0, index).split("\n").length;
      const text = shown ?? comment.replace(/^\s*(\/\*\*?|\*\/|\*|\/\/|[;{}),\]] \/\/)/gm, "").replace("*/", "");
      return refuseSentences(text, line);
    },
  );
}

/** Returns such sentences of a Markdown document, with the lines at which their paragraphs, list items and rows of tables begin. */
function findInProse(document: string): string[] {
  const prose = document
    .replace(UNREAD, (block) => block.replace(/.+/g, ""))
    .replace(/`(?:[^`\n]|\n(?!\s*\n))+`/g, (code) => `code${code.replace(/[^\n]+/g, "")}`)
    .replace(/\*\*|__/g, "");
  return [...prose.matchAll(BLOCK)].flatMap(({ 0: block, index }) => {
    const line = prose.slice(0, index).split("\n").length;
    const text = block.replace(/^[ \t]*(?:>[ \t]*)?(?:[-*+] |\d+\. )?/gm, "");
    const cells = text.startsWith("|") ? text.split("|") : [text];
    return cells.flatMap((cell) => refuseSentences(cell, line));
  });
}

/** Returns a complaint for each sentence of the text that has no subject or no actor. */
function refuseSentences(text: string, line: number): string[] {
  const sentences = text
    .replace(/\s+/g, " ")
    .trim()
    .split(/(?<=[.:?!;]) (?=[A-Z])/);
  return sentences.flatMap((sentence) => {
    const found = SENTENCES.find(({ words }) => words.test(sentence));
    return found ? [`${line}: write ${found.instead}: ${sentence}`] : [];
  });
}

/** Returns what the line says in dialect, and what to write instead; undefined if there is nothing. */
function findWord(line: string): string | undefined {
  const separated = line.replace(STORED, "").replace(/([a-z])([A-Z])/g, "$1 $2");
  const text = separated.replaceAll("_", " ").toLowerCase();
  for (const { words, instead } of DIALECT) {
    const [found] = words.exec(text) ?? [];
    if (found !== undefined) return `"${found}" instead of ${instead}`;
  }
  return undefined;
}
