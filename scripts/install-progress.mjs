// What pnpm says while it installs (`--reporter=ndjson`), in words for people. Plain JavaScript for Node ≥ 18, because it runs before there is
// any package.

/** pnpm says of packages from this size on how much it has of them, and of smaller ones only the size. */
const LARGE_BYTES = 5 * 1024 * 1024;
const LINES = 20;

/** Reads the lines of an installation. `progress` says how far it is, and is empty while nothing is known; `text` is what went wrong. */
export function followInstallation() {
  const bytes = new Map();
  const texts = [];
  const packages = { done: 0, wanted: 0 };
  return {
    add(line) {
      const event = parse(line);
      countPackage(packages, event);
      if (event.name === "pnpm:fetching-progress") bytes.set(event.packageId, sizeOf(event));
      const text = textOf(event);
      if (text !== undefined) texts.push(text);
    },
    progress() {
      if (packages.done === 0) return "";
      const megabytes = [...bytes.values()].reduce((sum, size) => sum + size, 0) / 1e6;
      const of = packages.wanted > 0 ? ` of ${packages.wanted}` : "";
      return `, ${packages.done}${of} packages${megabytes > 0 ? `, ${megabytes.toFixed(0)} MB fetched` : ""}`;
    },
    text: () => texts.slice(-LINES).join("\n"),
  };
}

function countPackage(packages, { name, status, added }) {
  if (name === "pnpm:stats") packages.wanted = added ?? packages.wanted;
  if (name === "pnpm:progress" && (status === "fetched" || status === "found_in_store")) packages.done += 1;
}

/** A registry may keep the size of a package to itself. */
function sizeOf({ size, downloaded }) {
  return downloaded ?? (size < LARGE_BYTES ? size : 0);
}

/** Whether a package suits the Node that runs pnpm says nothing: the programs run on the pinned one. */
function textOf({ name, level, message, err, error }) {
  if (name === "pnpm:install-check") return undefined;
  return err?.message ?? error?.message ?? (level === "warn" ? message : undefined);
}

/** Lines that are no JSON are those of npx. */
function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return { level: "warn", message: line };
  }
}
