/**
 * Short things that callers say: words of listening and words that want something, over the agent, by synthetic voices; single digits at
 * every place of a frame; digits in a row with the pauses of somebody who reads a number. One half of the voices is kept aside: no
 * threshold was tuned on it, though both halves were looked at when the pause before `wordless_ms` was chosen, and the words of listening
 * are those of the lists.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import type { Recording } from './recordings.ts';
import { faded, laid, mix, msOf, samplesOf, speechOf, type Scenario } from './scenarios.ts';
import { levelled } from './speakers.ts';
import { wordsOver, type SpokenWord } from './words.ts';

/** A text and how recognisers write it. */
interface Said {
  readonly text: string;
  readonly spellings: readonly string[];
}

const said = (line: string): Said => {
  const [text = '', ...spellings] = line.split('|');
  return { text, spellings: [text, ...spellings] };
};

const listening = [
  'mm-hmm|mhmm|mm hmm|mhm|Mm-hm.',
  'uh huh|uh-huh|uhhuh',
  'yeah|Yeah.|yea',
  'yep|yup',
  'right|Right.',
  'okay|ok|OK.',
  'sure|Sure.',
  'I see|I see.',
  'got it|Got it.',
  'alright|all right',
  'yeah yeah|yeah, yeah',
  'okay okay|okay. okay.',
].map(said);

const telling = [
  'stop',
  'wait',
  'no',
  'what',
  'hold on',
  'wait a moment',
  'no that is wrong',
  'can you repeat that',
  'yeah but not today',
  'what about Friday',
].map(said);

export interface Speaker {
  readonly name: string;
  readonly isAside: boolean;
  readonly say: (text: string) => Int16Array;
}

export const startMs = 1_500;
const wholeMs = 5_000;
/** Of a caller at a common distance from the microphone. */
export const callerDb = -27;
const phases = 8;
const frameMs = 32;

export const half = (isAside: boolean): string => (isAside ? 'kept aside' : 'seen');

/** What a speaker says, over an agent that goes on speaking for as long as the scenario lasts. */
export function spokenOverBot(speakers: readonly Speaker[], bot: Recording): Scenario[] {
  const prng = newPrng(7);
  const botWords = speechOf(bot.pcm);
  const make = (kind: 'listening' | 'telling', { text, spellings }: Said, speaker: Speaker): Scenario => {
    const words = levelled(faded(speechOf(speaker.say(text))), callerDb);
    const atMs = startMs + prng.below(frameMs);
    const endMs = atMs + msOf(words.length);
    return {
      kind,
      group: `${kind}, ${half(speaker.isAside)}`,
      pcm: laid(wholeMs, [{ atMs, pcm: words }]),
      startMs: atMs,
      endMs,
      words: wordsOver(prng.pick(spellings), atMs, endMs),
      ...botSays(bot, botWords),
    };
  };
  return speakers.flatMap((speaker) => [
    ...listening.map((one) => make('listening', one, speaker)),
    ...telling.map((one) => make('telling', one, speaker)),
  ]);
}

/** Of these the words of listening alone. */
export const listeningOverBot = (speakers: readonly Speaker[], bot: Recording): Scenario[] =>
  spokenOverBot(speakers, bot).filter(({ kind }) => kind === 'listening');

/** One digit at each of eight places of VAD's frame, into silence and over the agent. */
export function shortWords(digits: readonly Recording[], bot: Recording): Scenario[] {
  const botWords = speechOf(bot.pcm);
  return digits.flatMap(({ name, pcm, text }) => {
    const words = levelled(faded(speechOf(pcm)), callerDb);
    return Array.from({ length: phases }, (_, phase) => startMs + (phase * frameMs) / phases).flatMap(
      (atMs): Scenario[] => {
        const endMs = atMs + msOf(words.length);
        const common = {
          kind: 'short word',
          clip: name,
          pcm: laid(wholeMs, [{ atMs, pcm: words }]),
          startMs: atMs,
          endMs,
          words: wordsOver(text, atMs, endMs),
        } as const;
        return [
          { ...common, group: 'a digit into silence', botText: '', botMsPerChar: 0 },
          { ...common, group: 'a digit over the bot', ...botSays(bot, botWords) },
        ];
      },
    );
  });
}

export const botSays = (bot: Recording, words: Int16Array) => ({
  botText: `${bot.text}. `.repeat(Math.ceil(wholeMs / msOf(words.length)) + 1).trim(),
  botMsPerChar: msOf(words.length) / (bot.text.length + 2),
  played: words,
});

/** Natural pauses between the groups of a number that is read out, in milliseconds. */
const gapsMs = [250, 400, 600, 800, 1_000] as const;
const digitsInARow = 6;
const asked = 'Please tell me your six-digit order number.';
/** The agent has asked by then. */
const answersAtMs = 4_000;

/** A number of six digits in groups of two, by one speaker each. */
export function digitStrings(digits: readonly Recording[], isAside: (name: string) => boolean): Scenario[] {
  const prng = newPrng(11);
  return [false, true].flatMap((aside) => {
    const clips = digits.filter(({ name }) => isAside(name) === aside);
    if (clips.length === 0) return [];
    return gapsMs.flatMap((gapMs) =>
      Array.from({ length: 4 }, (): Scenario => {
        const parts: { atMs: number; pcm: Int16Array }[] = [];
        const words: SpokenWord[] = [];
        let atMs = answersAtMs;
        for (let at = 0; at < digitsInARow; at += 1) {
          const clip = prng.pick(clips);
          const pcm = levelled(faded(speechOf(clip.pcm)), callerDb);
          const endMs = atMs + msOf(pcm.length);
          parts.push({ atMs, pcm });
          words.push(...wordsOver(clip.text, atMs, endMs));
          atMs = endMs + (at % 2 === 0 ? 80 : gapMs);
        }
        const endMs = words.at(-1)?.endMs ?? 0;
        const pcm = new Int16Array(samplesOf(endMs + 3_200));
        mix(pcm, laid(endMs + 3_200, parts), { at: 0, gain: 1 });
        return {
          kind: 'turn',
          group: `six digits, ${half(aside)}`,
          pcm,
          startMs: answersAtMs,
          endMs,
          words,
          botText: '',
          botMsPerChar: 0,
          asked,
        };
      }),
    );
  });
}
