import type { ComponentChildren } from "preact";

interface WideProps {
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A table below its title, which scrolls by itself where the page is narrower, so that it has to be reached by the keyboard. */
export function WideTable({ title, children }: WideProps) {
  return (
    <div>
      <h3>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label={title}>
        <table class="plain-table wide-table">{children}</table>
      </section>
    </div>
  );
}
