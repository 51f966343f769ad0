import { wrap } from "@downlink/terminal/fit";
import { age, asPrinted, type Layout, paint } from "../text/screen.ts";
import type { StatusDocument } from "./status-schema.ts";

const MAX_PROBLEMS = 3;

/** Shows the first problems, each with its detail and what to do. */
export function renderProblems({ problems }: StatusDocument, layout: Layout): string[] {
  if (problems.length === 0) return [];
  const { most = MAX_PROBLEMS } = layout;
  const shown = problems.slice(0, most).flatMap((problem) => problemLines(problem, layout));
  const more = problems.length > most ? [`  and ${problems.length - most} more; see --json`] : [];
  return ["", paint("dim", "Problems", layout), ...shown, ...more];
}

function problemLines(
  { code, title, detail, fix, since }: StatusDocument["problems"][number],
  layout: Layout,
): string[] {
  const { columns, nowMs, lines } = layout;
  return [
    ...indented(`${code}, ${age(since, nowMs)}: ${title}`, { columns, lines, indent: "  " }).map((line) =>
      paint("yellow", line, layout),
    ),
    ...indented(detail, { columns, lines, indent: "    " }),
    ...indented(`→ ${asPrinted(fix, layout)}`, { columns, lines, indent: "    " }),
  ];
}

function indented(
  text: string,
  { columns, lines, indent }: { columns: number; lines: number; indent: string },
): string[] {
  return wrap(text, { width: columns - indent.length, lines }).map((line) => indent + line);
}
