/**
 * Which providers this build holds. A build may leave some out: scripts/build/service.mjs puts their names into the constant
 * BUILD_WITHOUT. Run from the sources, nothing is left out.
 */

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_WITHOUT: string | undefined;

/** The names of a comma-separated list. */
function listedFeatures(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** Canonical names of the providers that this build leaves out; the name of a provider is that of its build feature. */
export const leftOut: readonly string[] =
  typeof BUILD_WITHOUT === 'string' ? listedFeatures(BUILD_WITHOUT) : [];
