/** Answers that begin with a sound or a word of thinking, and a pause behind it that is not the end; and long numbers, whose end is known. */
import { faded, laid, msOf, speechOf, type Scenario } from './scenarios.ts';
import { levelled } from './speakers.ts';
import { callerDb, half, type Speaker } from './spoken.ts';
import { wordsOver, type SpokenWord } from './words.ts';

interface Thinking {
  readonly asked: string;
  /** What is said before the pause, in both halves, and behind it. */
  readonly seen: readonly string[];
  readonly aside: readonly string[];
  readonly answer: string;
}

const thinking: Readonly<Record<string, Thinking>> = {
  en: {
    asked: 'What is your name please?',
    seen: ['um', 'well', 'my name is', 'let me see'],
    aside: ['uh', 'so', 'it is', 'let me think'],
    answer: 'Anna Miller',
  },
  de: {
    asked: 'Wie ist Ihr Name bitte?',
    seen: ['ähm', 'also', 'mein name ist', 'mal sehen'],
    aside: ['äh', 'na ja', 'ich heiße', 'moment ich überlege'],
    answer: 'Anna Müller',
  },
  fr: {
    asked: "Quel est votre nom s'il vous plaît ?",
    seen: ['euh', 'alors', 'je suis', 'attendez'],
    aside: ['ben', 'le nom', "je m'appelle", 'voyons voir'],
    answer: 'Anne Moulin',
  },
  es: {
    asked: '¿Cómo se llama usted?',
    seen: ['eh', 'el', 'me llamo', 'a ver'],
    aside: ['este', 'la', 'mi nombre es', 'déjeme pensar'],
    answer: 'Ana Molina',
  },
  tr: {
    asked: 'Adınız nedir?',
    seen: ['ııı', 'şey', 'benim adım', 'bir bakayım'],
    aside: ['eee', 'yani', 'ismim', 'bir düşüneyim'],
    answer: 'Ayşe Demir',
  },
};

const answersAtMs = 4_000;
const pausesMs = [600, 900, 1_200] as const;
const tailMs = 3_200;

/** What some voice says, piece after piece with pauses behind them. */
function spokenBy(
  speaker: Speaker,
  pieces: readonly { readonly text: string; readonly pauseMs: number }[],
): Pick<Scenario, 'pcm' | 'words' | 'startMs' | 'endMs'> & { readonly ends: readonly number[] } {
  const parts: { atMs: number; pcm: Int16Array }[] = [];
  const words: SpokenWord[] = [];
  const ends: number[] = [];
  let atMs = answersAtMs;
  for (const { text, pauseMs } of pieces) {
    const pcm = levelled(faded(speechOf(speaker.say(text))), callerDb);
    const endMs = atMs + msOf(pcm.length);
    parts.push({ atMs, pcm });
    words.push(...wordsOver(text, atMs, endMs));
    ends.push(endMs);
    atMs = endMs + pauseMs;
  }
  const endMs = ends.at(-1) ?? answersAtMs;
  return { pcm: laid(endMs + tailMs, parts), words, startMs: answersAtMs, endMs, ends };
}

export function hesitations(speakers: readonly Speaker[]): Scenario[] {
  return Object.entries(thinking).flatMap(([language, { asked, seen, aside, answer }]) =>
    [false, true].flatMap((isAside) => {
      const voices = speakers.filter((speaker) => speaker.isAside === isAside);
      return (isAside ? aside : seen).flatMap((text, index) =>
        pausesMs.flatMap((pauseMs, at): Scenario[] => {
          const speaker = voices[(index * pausesMs.length + at) % Math.max(1, voices.length)];
          if (speaker === undefined) return [];
          const { ends, ...spoken } = spokenBy(speaker, [
            { text, pauseMs },
            { text: answer, pauseMs: 0 },
          ]);
          const fromMs = ends[0] ?? 0;
          return [
            {
              kind: 'turn',
              group: `hesitation ${language}, ${half(isAside)}`,
              clip: text,
              language,
              asked,
              ...spoken,
              pause: { fromMs, toMs: fromMs + pauseMs },
              botText: '',
              botMsPerChar: 0,
            },
          ];
        }),
      );
    }),
  );
}

const cards = {
  seen: ['four nine two nine', 'one one oh seven', 'three eight six two', 'five five one four'],
  aside: ['six oh one one', 'nine nine eight three', 'seven two four oh', 'one two six eight'],
};
const cardAsked = 'Please tell me the sixteen digits of your card.';
const gapsMs = [300, 600, 900] as const;

/** Sixteen digits in groups of four: nothing is left to wait for behind the last one, and everything behind the others. */
export function longNumbers(speakers: readonly Speaker[]): Scenario[] {
  return speakers.flatMap((speaker) =>
    gapsMs.map((gapMs): Scenario => {
      const groups = speaker.isAside ? cards.aside : cards.seen;
      const { ends: _, ...spoken } = spokenBy(
        speaker,
        groups.map((text) => ({ text, pauseMs: gapMs })),
      );
      return {
        kind: 'turn',
        group: `sixteen digits, ${half(speaker.isAside)}`,
        asked: cardAsked,
        ...spoken,
        // Of a pause as callers make it only the service has an opinion.
        pause: { fromMs: 0, toMs: 0 },
        botText: '',
        botMsPerChar: 0,
      };
    }),
  );
}
