/**
 * The rules of the conversation: a pure step from what was said so far to the next thing to say or do.
 *
 * Invariant: the state follows from the caller's messages alone and is rebuilt from them for every request, so the server
 * remembers nobody. A decision names what is wanted; whether a tool or the demo itself does it is decided elsewhere.
 */
import {
  findCity,
  findDay,
  findOrderNumber,
  findPeople,
  findTime,
  sayDay,
  sayTime,
  toWords,
  type TimeOfDay,
} from './spoken-values.ts';
import type { City } from './domain.ts';
import { findName, findWish, type Wish } from './ordering.ts';

/** What the conversation needs next: words alone, or a fact or deed and its details. */
export type Decision =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'weather'; readonly city: City; readonly day: string }
  | { readonly kind: 'clock'; readonly what: 'time' | 'date' }
  | { readonly kind: 'book'; readonly people: number; readonly day: string; readonly time: TimeOfDay }
  | { readonly kind: 'order'; readonly number: string }
  | Exclude<Wish, { readonly kind: 'finish' }>
  | { readonly kind: 'place'; readonly name: string }
  | { readonly kind: 'person'; readonly department: string }
  | { readonly kind: 'repeat' }
  | { readonly kind: 'goodbye' };

interface Booking {
  readonly people?: number;
  readonly day?: string;
  readonly time?: TimeOfDay;
}

/** What the last answer asked the caller for. */
type Asked = 'nothing' | 'city' | 'people' | 'day' | 'time' | 'confirm' | 'change' | 'order number' | 'name';

export interface Dialogue {
  readonly asked: Asked;
  readonly booking: Booking | undefined;
  readonly city: City | undefined;
  readonly weatherDay: string;
  readonly topic: 'none' | 'weather' | 'booking' | 'order' | 'ordering';
}

export const newDialogue: Dialogue = {
  asked: 'nothing',
  booking: undefined,
  city: undefined,
  weatherDay: 'today',
  topic: 'none',
};

export interface Step {
  readonly dialogue: Dialogue;
  readonly decision: Decision;
}

const canDo = 'the time, the weather in a city, booking a table, or an order';
const lost = 'Sorry, I did not catch that.';

/** What the caller is asked for, once more; without an open question, what can be asked. */
const questions: Readonly<Record<Asked, string>> = {
  nothing: `You can ask about ${canDo}.`,
  city: 'For which city? For example London, Paris or New York.',
  people: 'For how many people?',
  day: 'On which day?',
  time: 'At what time?',
  confirm: 'Shall I book the table?',
  change: 'What should I change: the number of people, the day, or the time?',
  'order number': 'What is your order number? Please say it digit by digit.',
  name: 'What name is the order for?',
};

const yes =
  /\b(yes|yeah|yep|sure|correct|that's right|that is right|all right|okay|please do|uh huh|mhm|mm hmm)\b/;
const no = /\b(no|nope|wrong)\b/;

/** Answers that fit at any moment and change nothing, in order. */
const remarks: readonly (readonly [RegExp, string])[] = [
  [/are you (a robot|a computer|human)/, 'I am a computer program, a small demo that runs on this machine.'],
  [/who are you|what are you|your name/, 'I am the demo agent, a small program that runs on this machine.'],
  [/what can (you|i)|\bhelp me\b|\bhelp\b$|you help/, `You can ask me about ${canDo}.`],
  [/tell me a joke|\bjoke\b/, 'Why did the phone wear glasses? It had lost its contacts.'],
  [/how are you/, 'I am fine, thank you. How can I help?'],
  [/i'm fine|i am fine/, 'Good to hear. What can I do for you?'],
  [/\b(thanks|thank you)\b/, 'You are welcome. Anything else?'],
  [/^(right|i see|got it|mm)$/, 'What else can I do for you?'],
  [/^(please )?(wait|stop|one moment)\b/, 'Of course. Take your time.'],
  [/\b(hello|hi|hey|good (morning|afternoon|evening))\b/, `Hello! You can ask me about ${canDo}.`],
];

const say = (dialogue: Dialogue, text: string): Step => ({ dialogue, decision: { kind: 'say', text } });

/** The next step after the caller said this. */
export function step(dialogue: Dialogue, said: string): Step {
  const words = toWords(said);
  const text = words.join(' ');
  if (/\[unclear\]/.test(said) || text === '') return say(dialogue, `${lost} ${questions[dialogue.asked]}`);
  if (/\b(repeat that|say that again|pardon|what did you say|didn't hear)\b/.test(text)) {
    return { dialogue, decision: { kind: 'repeat' } };
  }
  const isAll = /^(that's|that is) all\b/.test(text);
  if (isAll && dialogue.topic === 'ordering') return ordering({ kind: 'finish' });
  if (isAll || /\b(goodbye|bye|hang up|end the call|see you|have a nice day)\b/.test(text)) {
    return { dialogue: newDialogue, decision: { kind: 'goodbye' } };
  }
  return (
    abandon(dialogue, text) ??
    changeTopic(dialogue, words) ??
    continueTopic(dialogue, words) ??
    remark(dialogue, text) ??
    say(dialogue, `Sorry, I cannot help with that. ${questions[dialogue.asked]}`)
  );
}

function abandon(dialogue: Dialogue, text: string): Step | undefined {
  if (/\bchange (the|my)\b/.test(text) || !/\b(cancel|never mind|start over)\b/.test(text)) return undefined;
  const was = dialogue.topic === 'booking' ? 'I have dropped the booking.' : 'Never mind.';
  return say(newDialogue, `Okay. ${was} What else can I do?`);
}

/** A sentence that names its topic starts it, whatever was asked before. */
function changeTopic(dialogue: Dialogue, words: readonly string[]): Step | undefined {
  const text = words.join(' ');
  if (/\b(weather|rain|raining|cold|warm|sunny|forecast|temperature)\b/.test(text))
    return weather(dialogue, words);
  if (/\b(table|book|reserve|reservation)\b/.test(text)) return booking(dialogue, words);
  const wish = findWish(words);
  if (wish !== undefined) return ordering(wish);
  if (/\border\b|\btrack\b|\bpackage\b/.test(text)) return order(dialogue, words);
  const clock = /\bwhat (day|date)\b|\b(the|today's) date\b/.test(text)
    ? 'date'
    : /\bwhat time\b|\b(what's|what is|tell me) the time\b/.test(text)
      ? 'time'
      : undefined;
  return clock && { dialogue, decision: { kind: 'clock', what: clock } };
}

function continueTopic(dialogue: Dialogue, words: readonly string[]): Step | undefined {
  if (dialogue.asked === 'name') {
    const name = findName(words);
    if (name !== undefined) return { dialogue: newDialogue, decision: { kind: 'place', name } };
  }
  const city = findCity(words);
  if (city !== undefined) return weather(dialogue, words);
  if (dialogue.asked === 'order number' || findOrderNumber(words) !== undefined) {
    if (dialogue.topic !== 'booking')
      return dialogue.asked === 'order number' && !hasNumber(words) ? undefined : order(dialogue, words);
  }
  if (dialogue.topic === 'booking' && dialogue.booking !== undefined) {
    const text = words.join(' ');
    const talksOfIt = /\b(change|time|day|people)\b/.test(text) || yes.test(text) || no.test(text);
    if (talksOfIt || isDetail(dialogue, words)) return booking(dialogue, words);
  }
  if (dialogue.topic === 'weather' && findDay(words) !== undefined) return weather(dialogue, words);
  return undefined;
}

const hasNumber = (words: readonly string[]): boolean =>
  words.some((word) => /^\d+$/.test(word) || findOrderNumber([word, word, word]) !== undefined);

function isDetail({ asked }: Dialogue, words: readonly string[]): boolean {
  return (
    findDay(words) !== undefined ||
    findTime(words, { bare: asked === 'time' }) !== undefined ||
    findPeople(words, { bare: asked === 'people' }) !== undefined
  );
}

const wantsPerson = /speak to|customer support|\b(human|person)\b/;

function remark(dialogue: Dialogue, text: string): Step | undefined {
  if (wantsPerson.test(text) && !/\bare you\b/.test(text)) {
    const department = /\bsupport\b/.test(text) ? 'support' : '';
    return { dialogue, decision: { kind: 'person', department } };
  }
  const found = remarks.find(([pattern]) => pattern.test(text));
  if (found !== undefined) return say(dialogue, found[1]);
  if (no.test(text)) return say(dialogue, 'All right. Anything else?');
  if (yes.test(text)) return say(dialogue, `Good. You can ask me about ${canDo}.`);
  return undefined;
}

function weather(dialogue: Dialogue, words: readonly string[]): Step {
  const city = findCity(words) ?? (dialogue.topic === 'weather' ? dialogue.city : undefined);
  const day = findDay(words) ?? 'today';
  const next: Dialogue = { ...newDialogue, topic: 'weather', city, weatherDay: day };
  if (city !== undefined) return { dialogue: next, decision: { kind: 'weather', city, day } };
  return say({ ...next, asked: 'city' }, questions.city);
}

function order(dialogue: Dialogue, words: readonly string[]): Step {
  const number = findOrderNumber(words);
  const next: Dialogue = { ...newDialogue, topic: 'order' };
  if (number !== undefined) return { dialogue: next, decision: { kind: 'order', number } };
  const asked: Dialogue = { ...next, asked: 'order number' };
  const again = dialogue.asked === 'order number' || hasNumber(words);
  return say(
    asked,
    again
      ? 'The order number has at least three digits. Please say it digit by digit.'
      : questions['order number'],
  );
}

function ordering(wish: Wish): Step {
  const dialogue: Dialogue = { ...newDialogue, topic: 'ordering' };
  return wish.kind === 'finish'
    ? say({ ...dialogue, asked: 'name' }, questions.name)
    : { dialogue, decision: wish };
}

function booking(dialogue: Dialogue, words: readonly string[]): Step {
  const text = words.join(' ');
  const before = dialogue.topic === 'booking' ? dialogue.booking : undefined;
  if (dialogue.asked === 'confirm' && before !== undefined) {
    const { people, day, time } = before;
    if (yes.test(text) && !no.test(text) && people !== undefined && day !== undefined && time !== undefined) {
      return { dialogue: newDialogue, decision: { kind: 'book', people, day, time } };
    }
    if (!isDetail({ ...dialogue, asked: 'nothing' }, words)) {
      return changeOne(dialogue, before, text);
    }
  }
  if (
    dialogue.asked === 'change' &&
    before !== undefined &&
    !isDetail({ ...dialogue, asked: 'nothing' }, words)
  ) {
    return changeOne(dialogue, before, text);
  }
  const time = findTime(words, { bare: dialogue.asked === 'time' });
  const rest = time === undefined ? words : [...words.slice(0, time.from), ...words.slice(time.to)];
  const people = findPeople(rest, { bare: dialogue.asked === 'people' });
  const day = findDay(rest);
  return askNext({
    ...before,
    ...(people !== undefined && { people }),
    ...(day !== undefined && { day }),
    ...(time !== undefined && { time: time.time }),
  });
}

/** Forgets what the caller wants otherwise and asks for it again. */
function changeOne(dialogue: Dialogue, before: Booking, text: string): Step {
  const { people, day, time } = before;
  const known = { people, day, time };
  const which = /\btime\b/.test(text)
    ? 'time'
    : /\bday\b/.test(text)
      ? 'day'
      : /\bpeople\b/.test(text)
        ? 'people'
        : undefined;
  if (which === undefined) {
    return say({ ...dialogue, asked: 'change' }, questions.change);
  }
  const kept = Object.fromEntries(
    Object.entries(known).filter(([name, value]) => name !== which && value !== undefined),
  );
  return askNext(kept);
}

function askNext(wanted: Booking): Step {
  const { people, day, time } = wanted;
  const ask = (asked: Asked, text: string): Step =>
    say({ ...newDialogue, topic: 'booking', booking: wanted, asked }, text);
  if (people === undefined) return ask('people', questions.people);
  if (day === undefined) return ask('day', questions.day);
  if (time === undefined) return ask('time', questions.time);
  return ask('confirm', `A table for ${people}, ${sayDay(day)} at ${sayTime(time)}. Shall I book it?`);
}
