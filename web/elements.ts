/** Finding and changing elements of the document. */

export function byId<E extends HTMLElement>(id: string, kind: new () => E): E {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no element "${id}" of the right kind`);
  return element;
}

/** Touches the element only when there is a change, so that screen readers hear a text once. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Whether a scrolled list shows its end, and should go on doing so when something is added. */
export const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: HTMLElement): boolean =>
  scrollHeight - scrollTop - clientHeight < 24;
