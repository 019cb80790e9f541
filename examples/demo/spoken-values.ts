/**
 * Reads what callers say as values: numbers, order numbers, days, times of day, cities.
 *
 * Invariant: pure, over lower-case words without punctuation; digits and number words mean the same, so that a text of the demo's
 * recognizer and one of a better one are both understood.
 */
import { cities, digitWords, numberWords, weekdays, type City } from './domain.ts';

/** The text as lower-case words; `7:30` and `o'clock` stay whole. */
export function toWords(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replace(/[’]/g, "'")
    .replace(/\b([ap])\.\s?m\b\.?/g, '$1 m');
  return plain
    .replace(/(\d)([ap]m)\b/g, '$1 $2')
    .replace(/\b([ap])m\b/g, '$1 m')
    .replace(/[^a-z0-9:' ]+/g, ' ')
    .split(' ')
    .filter((word) => word !== '');
}

const moreNumbers: readonly (readonly [string, number])[] = [
  ['a', 1],
  ['couple', 2],
  ['fifteen', 15],
  ['twenty', 20],
  ['thirty', 30],
  ['forty', 40],
  ['fifty', 50],
];
const numbers: ReadonlyMap<string, number> = new Map([
  ...numberWords.map((word, value): [string, number] => [word, value]),
  ...moreNumbers,
]);

/** A whole number from 0 to 99, as digits or one word. */
export function toNumber(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  return /^\d{1,2}$/.test(word) ? Number(word) : numbers.get(word);
}

/** Three or more digits in a row, spoken one by one or written. */
export function findOrderNumber(words: readonly string[]): string | undefined {
  let run = '';
  let best = '';
  for (const word of words) {
    const value = digitWords.findIndex((digit) => digit === word);
    if (/^\d+$/.test(word)) run += word;
    else if (word === 'oh' || word === 'o') run += '0';
    else if (value >= 0) run += String(value);
    else run = '';
    if (run.length > best.length) best = run;
  }
  return best.length >= 3 && best.length <= 12 ? best : undefined;
}

export function findCity(words: readonly string[]): City | undefined {
  const text = ` ${words.join(' ')} `;
  return cities.find((city) => text.includes(` ${city} `));
}

export function findDay(words: readonly string[]): string | undefined {
  const days = [...weekdays, 'today', 'tomorrow', 'tonight'];
  const found = words.find((word) => days.includes(word));
  if (found !== undefined) return found === 'tonight' ? 'today' : found;
  return words.join(' ').includes('this evening') ? 'today' : undefined;
}

export interface TimeOfDay {
  readonly hour: number;
  readonly minute: number;
}

interface FoundTime {
  readonly time: TimeOfDay;
  /** The words that the time was read from. */
  readonly from: number;
  readonly to: number;
}

const minuteWords: ReadonlyMap<string, number> = new Map([
  ['fifteen', 15],
  ['thirty', 30],
  ['forty', 40],
  ['forty five', 45],
  ['15', 15],
  ['30', 30],
  ['45', 45],
]);

/** Reads a time that starts at this word; `certain` tells whether it could be anything else. */
function timeAt(
  words: readonly string[],
  at: number,
): (FoundTime & { readonly certain: boolean }) | undefined {
  const word = words[at] ?? '';
  if (word === 'noon') return { time: { hour: 12, minute: 0 }, from: at, to: at + 1, certain: true };
  const relative = words[at + 1];
  if ((word === 'half' || word === 'quarter') && (relative === 'past' || relative === 'to')) {
    const hour = toNumber(words[at + 2]);
    if (hour === undefined) return undefined;
    const offset = (word === 'half' ? 30 : 15) * (relative === 'past' ? 1 : -1);
    const minutes = hour * 60 + offset;
    return withHalfOfDay(words, {
      hour: Math.floor(minutes / 60),
      minute: (minutes + 60) % 60,
      from: at,
      to: at + 3,
    });
  }
  const clock = /^(\d{1,2}):(\d{2})$/.exec(word);
  if (clock !== null) {
    return withHalfOfDay(words, { hour: Number(clock[1]), minute: Number(clock[2]), from: at, to: at + 1 });
  }
  const hour = toNumber(word);
  if (hour === undefined || hour > 23 || word === 'a' || hour === 0) return undefined;
  const two = minuteWords.get(`${words[at + 1] ?? ''} ${words[at + 2] ?? ''}`);
  const one = minuteWords.get(words[at + 1] ?? '');
  const to = at + 1 + (two !== undefined ? 2 : one !== undefined ? 1 : 0);
  const end = words[to] === "o'clock" ? to + 1 : to;
  const found = withHalfOfDay(words, { hour, minute: two ?? one ?? 0, from: at, to: end });
  return found && { ...found, certain: found.to > at + 1 };
}

/** Hears "p m", "in the evening"; without either, a restaurant's hours are meant: one to eleven are in the afternoon. */
function withHalfOfDay(
  words: readonly string[],
  { hour, minute, from, to }: { hour: number; minute: number; from: number; to: number },
): (FoundTime & { readonly certain: boolean }) | undefined {
  const next = words.slice(to, to + 3).join(' ');
  const morning = /^(a m|in the morning)/.exec(next);
  const evening = /^(p m|in the evening|in the afternoon)/.exec(next);
  const said = morning ?? evening;
  const end = to + (said === null ? 0 : (said[0] ?? '').split(' ').length);
  const base = hour < 12 && morning === null ? hour + 12 : hour;
  if (base > 23 || minute > 59) return undefined;
  return { time: { hour: base, minute }, from, to: end, certain: true };
}

/** The first time of day. A bare number counts only after "at", or when `bare` says that a time was asked for. */
export function findTime(words: readonly string[], { bare }: { bare: boolean }): FoundTime | undefined {
  for (let at = 0; at < words.length; at += 1) {
    const found = timeAt(words, at);
    if (found !== undefined && (found.certain || words[at - 1] === 'at')) return found;
  }
  if (!bare) return undefined;
  for (let at = 0; at < words.length; at += 1) {
    const found = timeAt(words, at);
    if (found !== undefined && !/^(people|persons|guests|of)$/.test(words[found.to] ?? '')) return found;
  }
  return undefined;
}

/** How many guests. A bare number counts only when `bare` says that it was asked for. */
export function findPeople(words: readonly string[], { bare }: { bare: boolean }): number | undefined {
  for (const [at, word] of words.entries()) {
    const value = toNumber(word);
    if (value === undefined || value < 1 || value > 20 || word === 'a') continue;
    const next = words[at + 1] ?? '';
    const before = words[at - 1] ?? '';
    if (/^(people|persons|person|guests|of)$/.test(next) || /^(for|are|be)$/.test(before) || bare)
      return value;
  }
  return undefined;
}

export function sayTime({ hour, minute }: TimeOfDay): string {
  const clock = ((hour + 11) % 12) + 1;
  return `${clock}:${String(minute).padStart(2, '0')} ${hour < 12 ? 'AM' : 'PM'}`;
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** "on Friday", but "tomorrow". */
export function sayDay(day: string): string {
  return weekdays.some((weekday) => weekday === day) ? `on ${capital(day)}` : day;
}

export function sayCity(city: City): string {
  return city.split(' ').map(capital).join(' ');
}
