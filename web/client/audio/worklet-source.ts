/** The worklets as a script of their own inside the package, so that no bundler has to know of a second file. */

/** Set by the build of the package. */
declare const WORKLET_SOURCE: string | undefined;

/** An address to load the worklets from, to be revoked after that; undefined in a build that has them beside it alone. */
export function embeddedWorklets(): string | undefined {
  const source = typeof WORKLET_SOURCE === 'string' ? WORKLET_SOURCE : '';
  if (source === '') return undefined;
  return URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
}
