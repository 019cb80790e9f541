/**
 * Numbers, spelled words and addresses that are said piece by piece: "four two ... seven nine". A caller who reads them out pauses where nobody
 * else does, and each group sounds finished. The agent's question and the words so far tell whether more is to come. It compares words
 * and knows nothing of time, turns or audio.
 */
import { spokenWords } from './phrases.ts';

/** Things that are told digit by digit or letter by letter, in what the agent asks for. */
const asksForOne = new RegExp(
  [
    String.raw`\b(?:numbers?|digits?|pin|codes?|zip|postcode|iban|serial|extension|spell|spelled|letter by letter)\b`,
    String.raw`\b(?:phone|account|card|order|reference|booking|tracking|licen[cs]e|passport)\b.*\b(?:number|id)\b|e-?mail`,
    String.raw`numara|rakam|hane|şifre|\bkod|hecele|harf harf|e-?posta|plaka`,
    String.raw`nummer|ziffer|stellig|postleitzahl|\bplz\b|buchstabier|kennzeichen`,
    String.raw`número|numero|dígito|cifra|código|deletre|correo|matrícula`,
    String.raw`numéro|chiffre|épele|épeler|courriel|\bcode\b`,
  ].join('|'),
  'iu',
);

const units = [
  'zero one two three four five six seven eight nine ten eleven twelve',
  'sıfır bir iki üç dört beş altı yedi sekiz dokuz on onbir oniki',
  'null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf',
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce',
  'zéro un deux trois quatre cinq six sept huit neuf dix onze douze',
].map((line) => line.split(' '));

const valueOf = new Map(units.flatMap((words) => words.map((word, value) => [word, value] as const)));
const digitWords = new Set([...units.flatMap((words) => words.slice(0, 10)), 'oh', 'o', 'zwo', 'ein']);
/** Say a number of two digits with what follows, or in place of it. */
const tens = new Set(
  'ten twenty thirty forty fifty sixty seventy eighty ninety eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  ),
);
const repeats = new Map([
  ['double', 1],
  ['triple', 2],
]);
/** Between digits they mean nothing. */
const between = new Set(
  'and dash minus hyphen dot point space um uh er hmm then und y et ve tire bindestrich'.split(' '),
);

const lengthAsked = new RegExp(
  String.raw`(\d{1,2}|\p{L}+)[-\s]?(?:digits?|numbers|characters|letters|hane(?:li)?|rakam(?:lı)?|stellige?[nrs]?|ziffern|dígitos|cifras|chiffres)(?!\p{L})`,
  'giu',
);

/** How many digits or letters the agent asks for, where it says so. */
function askedLength(asked: string): number | undefined {
  const found = [...asked.matchAll(lengthAsked)].at(-1);
  const word = found?.[1]?.toLowerCase() ?? '';
  const value = /^\d+$/.test(word) ? Number(word) : valueOf.get(word);
  return value !== undefined && value > 1 ? value : undefined;
}

/** Digits and single letters at the end of what was said. */
function saidLength(text: string): number {
  let count = 0;
  for (const word of spokenWords(text)
    .toReversed()
    .flatMap((one) => one.split('-').toReversed())) {
    const said = unitsIn(word);
    if (said === undefined && !between.has(word)) break;
    count += said ?? 0;
  }
  return count;
}

function unitsIn(word: string): number | undefined {
  if (/^\p{N}+$/u.test(word)) return word.length;
  if (digitWords.has(word) || /^\p{L}$/u.test(word)) return 1;
  if (tens.has(word)) return 1;
  return repeats.get(word);
}

const asksForMail = /e-?mail|e-?posta|correo|courriel/iu;
/** What stands between the parts of an address, and before its host. */
const joints = new Set(
  'dot underscore dash hyphen nokta tire punkt unterstrich punto guion point tiret'.split(' '),
);
const ats = new Set('at ät et arroba arobase'.split(' '));

/** An address for mail that is told part by part: "john dot ... smith at gmail ... dot com". Undefined where it is none, or may be whole. */
function mailSaid(text: string): 'begun' | 'open' | undefined {
  if (/\S@\S+\.\p{L}{2,}\W*$/u.test(text)) return undefined;
  const words = spokenWords(text.replaceAll('@', ' at '));
  const last = words.at(-1) ?? '';
  const host = words.findLastIndex((word) => ats.has(word));
  const isJoined = words.slice(host + 1).some((word) => joints.has(word));
  if (host === -1 && !isJoined) return undefined;
  if (joints.has(last) || ats.has(last)) return 'begun';
  return host !== -1 && isJoined ? undefined : 'open';
}

/** So many digits in a row are a number of that kind although nobody asked for one. */
const unaskedDigits = 3;

export type NumberSaid = 'whole' | 'begun' | 'open';

/**
 * The words are a number that the agent asked for: all of it (`whole`), a part of it (`begun`), or how long it is to be is not known
 * (`open`). Undefined where it is none.
 */
export function numberSaid(asked: string, text: string): NumberSaid | undefined {
  const mail = asksForMail.test(asked) ? mailSaid(text) : undefined;
  if (mail !== undefined) return mail;
  const said = saidLength(text);
  if (said === 0) return undefined;
  const length = askedLength(asked);
  if (length !== undefined) return said >= length ? 'whole' : 'begun';
  return asksForOne.test(asked) || said >= unaskedDigits ? 'open' : undefined;
}
