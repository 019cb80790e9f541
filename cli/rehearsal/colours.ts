/** Colours for people at a terminal; everybody else gets the same text without them. */

export interface Colours {
  readonly agent: (text: string) => string;
  readonly aside: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
}

const plain = (text: string): string => text;
const painted =
  (code: number) =>
  (text: string): string =>
    `\u001b[${code}m${text}\u001b[0m`;

/** Colours only on a terminal whose user has not set NO_COLOR (no-color.org: to anything but nothing). */
export function coloursFor(
  output: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Colours {
  const wanted = output.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
  return wanted
    ? { agent: painted(36), aside: painted(2), good: painted(32), bad: painted(31) }
    : { agent: plain, aside: plain, good: plain, bad: plain };
}
