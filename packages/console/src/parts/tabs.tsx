import "./tabs.css";

export interface Tab {
  readonly name: string;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly count?: number | string | undefined;
}

/** Tabs are links, because each is an address of its own: they can be sent, opened beside, and left by Back. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ name, href, isCurrent, count }) => (
        <a key={name} href={href} aria-current={isCurrent ? "page" : undefined}>
          {name}
          {count !== undefined && <span class="muted"> {count}</span>}
        </a>
      ))}
    </nav>
  );
}
