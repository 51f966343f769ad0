/** A script by which a document says whether it is hidden: the browser never hides a tab that a program drives. */
export const sayHidden = (isHidden: boolean) => `(() => {
  Object.defineProperty(document, "hidden", { get: () => ${isHidden}, configurable: true });
  Object.defineProperty(document, "visibilityState", { get: () => "${isHidden ? "hidden" : "visible"}", configurable: true });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
})()`;
