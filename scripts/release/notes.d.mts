import type { Change } from '../packages/changes.mjs';

export interface Release {
  readonly version: string;
  /** The part of the changelog that tells of it. */
  readonly notes: string;
  readonly changelog: string;
}
export function withoutUpgrade(changelog: string): string[];
export function releasesIn(changelog: string): string[];
export function notesOf(changelog: string, version: string): string;
export function nextVersion(
  current: string,
  what: { readonly isBreaking: boolean; readonly hasNew: boolean },
): string;
export function withLinks(changelog: string, home: string): string;
export function release(
  changelog: string,
  given: {
    readonly current: string;
    readonly changes: readonly Change[];
    readonly date: string;
    readonly home: string;
  },
): Release;
