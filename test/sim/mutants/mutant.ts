/** What it means to break the core on purpose: one exact piece of its source is replaced by another. */

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const mutant = (name: string, file: string, change: { from: string; to: string }): Mutant => ({
  name,
  file,
  ...change,
});
