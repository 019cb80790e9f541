/**
 * Reads the caller's answer to a question that asks for a yes. Only a clear yes is one: what is hedged, asked back, changed
 * or said beside the point is unclear, because the call that waits for it changes the world (spec 02, confirm). Pure; the
 * words come from the agent file or the language.
 */

import { listed } from '../../shared/base/listed.ts';

export interface ConfirmationWords {
  /** In lower case; the first one may be followed by a few more words. */
  readonly yes: readonly string[];
  /** In lower case. */
  readonly no: readonly string[];
}

type Words = readonly string[];

/** Yes beyond doubt, so that a few words may follow: "yes, book it". */
const firmYes: Words = listed(
  'yes|yeah|yep|yup|absolutely|definitely|certainly|of course|evet|elbette|kesinlikle|ja|jawohl',
  'natürlich|auf jeden fall|sí|claro que sí|por supuesto|oui|bien sûr|absolument',
);

/** Holds a word of no and does not mean it. */
const noRefusal: Words = listed(
  "no problem|no worries|why not|don't worry|no doubt|not a problem|sorun yok|sorun değil",
  'problem değil|problem yok|sıkıntı yok|neden olmasın|kein problem|keine sorge|warum nicht',
  'no hay problema|no pasa nada|por qué no|cómo no|pas de problème|pas de souci|pourquoi pas',
);

/** Neither here nor there. */
const neutral = new Set(
  listed(
    'um|uh|er|erm|ah|oh|hm|hmm|well|so|please|thanks|thank|you|very|much|it|that|this|then|i|im|am|is',
    'do|and|just|lets|said|the|ee|eee|şey|yani|lütfen|teşekkürler|teşekkür|ederim|sağol|sağ|ol|olun',
    'bunu|onu|ben|efendim|o|zaman|ve|dedim|bitte|danke|schön|vielen|dank|das|es|ich|doch|dann|also|äh',
    'ähm|ist|por|favor|gracias|muchas|lo|eso|bueno|pues|entonces|eh|señor|señora|merci|beaucoup|sil',
    'vous|te|plaît|ça|cest|alors|euh|ben|bah|je|madame',
  ),
);

/** Turns a yes into a question, a condition or another wish. */
const hedges = new Set(
  listed(
    'but|if|unless|maybe|perhaps|think|guess|suppose|except|instead|actually|only|first|later|change',
    'other|another|different|rather|after|before|or|what|how|which|when|why|who|where|can|could|would',
    'should|will|does|ama|fakat|ancak|eğer|belki|sanırım|galiba|yerine|aslında|önce|sonra|başka',
    'yalnız|sadece|veya|ya|ne|nasıl|hangi|neden|niye|kaç|kim|nerede|mi|mı|mu|mü|aber|wenn|falls',
    'vielleicht|oder|sondern|stattdessen|eigentlich|lieber|erst|nur|später|vorher|anders|andere',
    'glaube|denke|wie|wann|warum|wer|wo|welche|außer|pero|si|quizás|quizá|vez|creo|mejor|primero',
    'después|antes|solo|otro|otra|qué|cómo|cuándo|cuánto|cuál|quién|dónde|depende|excepto|salvo',
    'cambiar|mais|peut|sauf|plutôt|dabord|après|avant|ou|où|seulement|autre|crois|pense|quoi|quand',
    'pourquoi|combien|quel|quelle|qui|changer',
  ),
);

/** Words after a firm yes, and of an answer that is looked at. */
const mostAfterYes = 4;
const mostWords = 12;

function wordsOf(text: string, language: string): string[] {
  // Turkish has two letters i; any other locale would turn "HAYIR" into another word.
  const lower = text.normalize('NFC').toLocaleLowerCase(/^tr\b/i.test(language) ? 'tr' : 'en');
  const plain = lower.replace(/['’ʼ]/g, '');
  return plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

const startsWith = (words: Words, phrase: Words): boolean =>
  phrase.length > 0 && phrase.every((word, index) => words[index] === word);

/** The longest phrase at the start of the words. */
function leading(words: Words, phrases: readonly Words[]): Words | undefined {
  let found: Words | undefined;
  for (const phrase of phrases)
    if (startsWith(words, phrase) && phrase.length > (found?.length ?? 0)) found = phrase;
  return found;
}

const holds = (words: Words, phrases: readonly Words[]): boolean =>
  words.some((_, index) => leading(words.slice(index), phrases) !== undefined);

function without(words: Words, phrases: readonly Words[]): string[] {
  const left: string[] = [];
  for (let index = 0; index < words.length;) {
    const phrase = leading(words.slice(index), phrases);
    const word = words[index];
    if (phrase === undefined && word !== undefined) left.push(word);
    index += phrase?.length ?? 1;
  }
  return left;
}

/** What the answer means; `unclear` is never a yes. `language` is a BCP 47 tag. */
export function readConfirmation(
  answer: string,
  { yes, no }: ConfirmationWords,
  { language }: { readonly language: string },
): 'yes' | 'no' | 'unclear' {
  const phrases = (list: Words): Words[] => list.map((phrase) => wordsOf(phrase, language));
  const all = without(wordsOf(answer, language), phrases(noRefusal));
  const yesPhrases = phrases(yes);
  // "that is right" begins with words that mean nothing elsewhere.
  const start = all.findIndex((word, index) => leading(all.slice(index), yesPhrases) || !neutral.has(word));
  const own = start < 0 ? [] : all.slice(start);
  const lead = leading(own, yesPhrases);
  if (holds(all, phrases(no))) return lead === undefined ? 'no' : 'unclear';
  if (lead === undefined || own.length > mostWords || answer.includes('?')) return 'unclear';
  if (own.some((word) => hedges.has(word) || /\p{N}/u.test(word))) return 'unclear';
  const rest = without(own, yesPhrases).filter((word) => !neutral.has(word));
  const isFirm = leading(own, phrases([...firmYes.filter((word) => yes.includes(word)), ...yes.slice(0, 1)]));
  return rest.length === 0 || (isFirm !== undefined && rest.length <= mostAfterYes) ? 'yes' : 'unclear';
}
