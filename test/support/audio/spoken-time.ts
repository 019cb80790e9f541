/** Times of day as words, to compare with what was heard. Pure. */
const small = [
  ...[
    'zero',
    'one',
    'two',
    'three',
    'four',
    'five',
    'six',
    'seven',
    'eight',
    'nine',
    'ten',
    'eleven',
    'twelve',
  ],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty'];

const numberWords = (value: number): string =>
  value < 20
    ? small[value]!
    : `${tens[Math.floor(value / 10)]} ${value % 10 > 0 ? small[value % 10] : ''}`.trim();

/** The time zone in which it is now some minutes past ten in the morning: the hour that the recognizer knows best. */
export function zoneAtTen(now: Date): string {
  const eastwards = 10 - now.getUTCHours();
  const offset = eastwards < -12 ? eastwards + 24 : eastwards;
  // These names count westwards.
  return offset === 0 ? 'Etc/GMT' : `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
}

/** Words to be inserted, dropped or changed on the way from one text to the other. */
function wordsBetween(from: readonly string[], to: readonly string[]): number {
  let row = to.map((_, at) => at + 1);
  for (const [index, word] of from.entries()) {
    let diagonal = index;
    let left = index + 1;
    row = row.map((above, at) => {
      left = Math.min(above + 1, left + 1, diagonal + (word === to[at] ? 0 : 1));
      diagonal = above;
      return left;
    });
  }
  return row.at(-1) ?? from.length;
}

/**
 * Whether the text tells a time that it was, in the zone of {@link zoneAtTen}, from the first moment to the second. One word may be misheard
 * ("thirty eight" for "thirty two"), and both words of "oh two".
 */
export function isTime(text: string, [from, to]: readonly [Date, Date]): boolean {
  const firstMinute = Math.floor(from.getTime() / 60_000);
  const lastMinute = Math.floor(to.getTime() / 60_000);
  for (let moment = firstMinute; moment <= lastMinute; moment += 1) {
    const minute = moment % 60;
    const hour = minute < from.getUTCMinutes() ? 'eleven' : 'ten';
    const clock = minute === 0 ? '' : minute < 10 ? `oh ${numberWords(minute)}` : numberWords(minute);
    const expected = `it is ${hour} ${clock} a m`.split(' ').filter((word) => word !== '');
    const allowed = minute > 0 && minute < 10 ? 2 : 1;
    if (wordsBetween(text.split(' '), expected) <= allowed) return true;
  }
  return false;
}
