export type Bump = 'patch' | 'minor' | 'major';
export interface Change {
  readonly file: string;
  readonly packages: Readonly<Record<string, Bump>>;
  readonly words: string;
  readonly upgrade: string;
}
export function parseChange(file: string, text: string): Change;
export function isBreaking(change: Pick<Change, 'packages'>): boolean;
export function bumpBetween(before: string | undefined, after: string | undefined): Bump | undefined;
export function missingChanges(given: {
  readonly released: Readonly<Record<string, string>>;
  readonly current: Readonly<Record<string, string>>;
  readonly packageOf: (report: string) => string;
  readonly changes: readonly Change[];
}): string[];
