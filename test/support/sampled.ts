/**
 * How much a test tries that could try very much. A build tries a sample, the same each time; `npm run test:long` tries all
 * (SVC_TEST_ALL=1).
 */
const all = process.env['SVC_TEST_ALL'] === '1';

/** In a build the first and the last of a series. */
export const ends = <T>(series: readonly T[]): readonly T[] =>
  all ? series : series.filter((_, at) => at === 0 || at === series.length - 1);

/** In a build every `step`th of a series, of which the first has this index: with all of 0 to `step` - 1 in turn, each is tried once. */
export const everyNth = <T>(series: readonly T[], step: number, from: number): readonly T[] =>
  all ? series : series.filter((_, at) => at % step === from % step);

export const tries = (most: number, sample: number): number => (all ? most : sample);

/** Near both ends of a message each place is one of its own, and heads are looked at. */
const near = 24;
const stride = 5;

/** Places between `from` and `to` (left out) at which something is cut or split. */
export function placesWithin(from: number, to: number): number[] {
  const places = Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at);
  return all
    ? places
    : places.filter((at) => at < from + near || at >= to - near || (at - from) % stride === 0);
}
