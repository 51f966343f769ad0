import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import "./sign-in.css";

/** Surrounds each step of a sign-in. It has no frame, because no user is signed in yet. */
export function SignInCard({ title, children }: { title: string; children: ComponentChildren }) {
  useEffect(() => {
    document.title = `${title} · Downlink`;
  }, [title]);
  return (
    <main class="sign-in card">
      <img src="/icon.svg" alt="" width="40" height="40" />
      <h1>{title}</h1>
      {children}
    </main>
  );
}
