/**
 * What callers do over the agent without wanting it to stop, in five languages: nods that stand in no list of words, and laughter; beside them what
 * does want it to stop. Words and voices are split: nothing may be chosen by those that are kept aside. The synthetic voices are English, so for other
 * languages only the words are theirs.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import { laugh, laughers } from './laughter.ts';
import type { Recording } from './recordings.ts';
import { faded, laid, msOf, speechOf, type Scenario } from './scenarios.ts';
import { levelled } from './speakers.ts';
import { botSays, callerDb, half, startMs, type Speaker } from './spoken.ts';
import { wordsOver } from './words.ts';

interface Said {
  readonly seen: readonly string[];
  readonly aside: readonly string[];
}

const split = (seen: string, aside: string): Said => ({ seen: seen.split('|'), aside: aside.split('|') });

export const nods: Readonly<Record<string, Said>> = {
  en: split(
    'oh really|good to know|that helps|oh nice|is that so|lovely|how interesting|oh I did not know that|very nice|oh good|ah there we go|that is helpful|noted|oh that is handy|right you are|oh brilliant',
    'no way|good for you|oh I get that|that is wonderful|oh dear|well well|ah that explains it|how nice|what a relief|oh fantastic|that works|so I heard|oh boy|ah I remember|fancy that|just as I thought',
  ),
  de: split(
    'interessant|ach wirklich|gut zu wissen|ach schön|ah ja|soso|das ist gut|oh wie nett|aha okay|wunderbar|das freut mich|ach was|das hilft mir|na prima|ach so ist das|ja genau so',
    'ach du liebe zeit|sehr schön|na so was|das wusste ich nicht|oh toll|wie schön|das klingt gut|ach herrje|na bitte|da bin ich froh|tatsächlich|donnerwetter|ach ja richtig|wie praktisch|hervorragend|na dann',
  ),
  fr: split(
    "ah vraiment|c'est intéressant|bon à savoir|ah super|c'est noté|ah tiens|très intéressant|ah c'est bien|formidable|je ne savais pas|oh là là|ah d'accord très bien|ça m'aide|génial|ah quand même|c'est gentil",
    "ah oui quand même|sans blague|quelle chance|ah je comprends mieux|c'est parfait ça|tant mieux|ça alors|comme c'est pratique|magnifique|ah bien joué|c'est rassurant|eh bien|ah c'est pour ça|merveilleux|dis donc|c'est chouette",
  ),
  es: split(
    'de verdad|qué interesante|ah mira|qué bueno|es bueno saberlo|no lo sabía|ah fenomenal|me alegro|ya entiendo todo|estupendo|ah pues sí|anda ya|qué bonito|muy interesante|eso ayuda|menos mal',
    'no me digas|qué maravilla|vaya vaya|ah con razón|qué suerte|magnífico|así que era eso|qué práctico|madre mía|ah muy buena|fíjate|qué alivio|ya me parecía|increíble|pues mira qué bien|qué ilusión',
  ),
  tr: split(
    'öyle mi|gerçekten mi|ne ilginç|bunu bilmiyordum|çok güzel|ah ne hoş|iyi oldu|bak sen|hadi ya|ne kadar iyi|vay be|çok sevindim|bu iyi haber|demek öyle|aa evet|işime yarar',
    'yok canım|ne diyorsunuz|aman ne iyi|şimdi anlaşıldı|oh be|bayıldım|maşallah|ilahi|tahmin etmiştim|ne şans|aferin|bu rahatlattı|hayret|vallahi mi|mükemmel olmuş|ne pratik',
  ),
};

const stops: Readonly<Record<string, Said>> = {
  en: split(
    'no stop please|what does it cost|that is not my name|can I ask something',
    'hang on a second|I want to cancel it|which day was that|you misunderstood me',
  ),
  de: split(
    'nein stopp bitte|was kostet das|das ist nicht mein name|darf ich etwas fragen',
    'moment mal bitte|ich möchte das stornieren|welcher tag war das|sie haben mich falsch verstanden',
  ),
  fr: split(
    "non arrêtez|combien ça coûte|ce n'est pas mon nom|je peux poser une question",
    "attendez une seconde|je veux annuler|c'était quel jour|vous m'avez mal compris",
  ),
  es: split(
    'no pare por favor|cuánto cuesta|ese no es mi nombre|puedo preguntar algo',
    'espere un segundo|quiero cancelarlo|qué día era|me ha entendido mal',
  ),
  tr: split(
    'hayır durun lütfen|bu ne kadar|benim adım o değil|bir şey sorabilir miyim',
    'bir saniye bekleyin|iptal etmek istiyorum|hangi gündü|beni yanlış anladınız',
  ),
};

/** Each voice says every word of its half, over an agent that goes on for as long as the scenario lasts. */
export function nodsOverBot(speakers: readonly Speaker[], bot: Recording): Scenario[] {
  return [
    ...said('listening', 'nods', { texts: nods, speakers, bot }),
    ...said('telling', 'stops', { texts: stops, speakers, bot }),
  ];
}

function said(
  kind: 'listening' | 'telling',
  name: string,
  {
    texts,
    speakers,
    bot,
  }: { texts: Readonly<Record<string, Said>>; speakers: readonly Speaker[]; bot: Recording },
): Scenario[] {
  const botWords = speechOf(bot.pcm);
  return Object.entries(texts).flatMap(([language, { seen, aside }]) =>
    [false, true].flatMap((isAside) => {
      const voices = speakers.filter((speaker) => speaker.isAside === isAside);
      return (isAside ? aside : seen).flatMap((text, index): Scenario[] => {
        const speaker = voices[index % Math.max(1, voices.length)];
        if (speaker === undefined) return [];
        const words = levelled(faded(speechOf(speaker.say(text))), callerDb);
        const endMs = startMs + msOf(words.length);
        return [
          {
            kind,
            group: `${name} ${language}, ${half(isAside)}`,
            language,
            pcm: laid(endMs + 3_500, [{ atMs: startMs, pcm: words }]),
            startMs,
            endMs,
            words: wordsOver(text, startMs, endMs),
            ...botSays(bot, botWords),
          },
        ];
      });
    }),
  );
}

const laughsMs = [1_000, 1_700, 2_600, 4_000] as const;
/** How recognisers write it, one "ha" for each burst or so. */
const written = 'ha ha ha';

/** Laughter of every length over the agent and into its silence, of which STT says nothing or "ha ha ha". */
export function laughterOver(bot: Recording): Scenario[] {
  const botWords = speechOf(bot.pcm);
  const prng = newPrng(13);
  return laughers.flatMap((laugher) =>
    laughsMs.flatMap((ms) =>
      ['over the agent', 'into silence'].flatMap((where) =>
        [false, true].map((isWritten): Scenario => {
          const pcm = levelled(faded(laugh(laugher, ms, prng.below(1_000))), callerDb);
          const endMs = startMs + ms;
          return {
            kind: 'listening',
            group: `laughter ${where}${isWritten ? ', written' : ''}, ${half(laugher.isAside)}`,
            pcm: laid(endMs + 3_500, [{ atMs: startMs, pcm }]),
            startMs,
            endMs,
            words: isWritten ? wordsOver(written, startMs, endMs) : [],
            ...(where === 'into silence' ? { botText: '', botMsPerChar: 0 } : botSays(bot, botWords)),
          };
        }),
      ),
    ),
  );
}
