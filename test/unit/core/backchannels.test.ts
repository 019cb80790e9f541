/** Words of listening: told by sound and by the language's list, however STT spells them; never what asks for a stop. */
import { describe, expect, it } from 'vitest';
import { backchannelsOf } from '../../../shared/config/agent/texts.ts';
import { spokenLanguages } from '../../../shared/languages/languages.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { listeningOf, withoutListening, withoutSounds } from '../../../worker/core/turn/backchannels.ts';

const listening = (backchannels: readonly string[], language = 'en') =>
  listeningOf(backchannels, vocabularyOf(spokenLanguages([language]))).listening;

const left = (text: string, language = 'en', options = {}): string[] =>
  withoutListening(spokenWords(text), listening(backchannelsOf(language), language), options);

describe('sounds of listening', () => {
  it.each([
    [
      'en',
      'mhmm|mm-hmm|mmhmm|mm hm|Mm-hm.|hmm|uh huh|uh-huh|uhhuh|Uh-huh, uh-huh|aha|a-ha|ah|oh|ooh|mmm|um|uhm|hm hm',
    ],
    ['tr', 'hı hı|hıhı|hı-hı|hımm|ıı|ha|aha|hı hı, evet'],
    ['de', 'mhm|hm|aha|äh|ähm|öhm'],
    ['es', 'ajá|aja|mjm|eh|ehm|ajam'],
    ['fr', 'mhm|euh|heu|hum|ah'],
    ['ja', 'mhm|uh huh|okay'],
  ])('are told in any spelling (%s)', (language, texts) => {
    for (const text of texts.split('|')) expect([text, left(text, language)]).toEqual([text, []]);
  });

  it('do not hold a refusal, which sounds much the same', () => {
    for (const text of ['uh-uh', 'nuh-uh', 'Uh-uh, no.']) expect(left(text)).not.toEqual([]);
  });

  it('say nothing unless they mean yes', () => {
    expect(withoutSounds(spokenWords('um, hmm, oh, uh'))).toEqual([]);
    for (const text of ['mm-hmm', 'mhmm', 'uh-huh', 'uhhuh', 'aha', 'hıhı', 'ajá'])
      expect(withoutSounds(spokenWords(text))).toEqual(spokenWords(text));
  });
});

describe('words of listening', () => {
  it.each([
    [
      'en',
      "yeah|yep|yup|got it|gotcha|alright|all right|okay okay|yeah yeah yeah|yeah-yeah|okaaay|yeahhh|that's right|oh okay, I see|no problem|No worries.|not bad",
    ],
    ['tr', 'tamam|Tamam, anladım|evet evet|peki|tabii ki|aynen öyle|sorun değil|ne güzel|TAMAM|İyi'],
    ['de', 'ja|jaja|ja ja|genau|alles klar|ach so|verstehe|in Ordnung|na gut|kein Problem'],
    [
      'es',
      'sí|si|sí, sí|claro|vale vale|ya veo|de acuerdo|entiendo|está bien|eso es|no hay problema|qué bien',
    ],
    [
      'fr',
      "oui|ouais|d'accord|d’accord|je vois|ça marche|tout à fait|bien sûr|c'est ça|c’est vrai|pas de souci|pas mal",
    ],
  ])('are told however often, and however long they are drawn out (%s)', (language, texts) => {
    for (const text of texts.split('|')) expect([text, left(text, language)]).toEqual([text, []]);
  });

  it.each([
    [
      'en',
      "stop|wait|no|not now|hold on|what|who|Anna|yeah but|okay wait|right now|I saw|I'm not sure|sure can you|nope",
    ],
    ['tr', 'dur|bekle|hayır|ne|Ayşe|evet ama|tamam dur'],
    ['de', 'halt|stopp|nein|was|warte|ja aber'],
    ['es', 'para|espera|no|qué|sí pero|alto'],
    ['fr', 'non|attends|quoi|arrête|oui mais|stop'],
  ])('leave what asks for something (%s)', (language, texts) => {
    for (const text of texts.split('|'))
      for (const options of [{}, { unfinished: true, partial: true }])
        expect([text, left(text, language, options).length > 0]).toEqual([text, true]);
  });

  it('may be half a phrase, or the beginning of a word, while more can follow, and only at the end', () => {
    expect(left('I')).toEqual(['i']);
    expect(left('I', 'en', { unfinished: true })).toEqual([]);
    expect(left('okay, got', 'en', { unfinished: true })).toEqual([]);
    expect(left('got the', 'en', { unfinished: true })).toEqual(['got', 'the']);
    expect(left('alri', 'en', { partial: true })).toEqual([]);
    expect(left('alri')).toEqual(['alri']);
    expect(left('alri stop', 'en', { partial: true })).toEqual(['alri', 'stop']);
  });

  it('count as a whole phrase, in the spelling of the list, and an empty one is none', () => {
    expect(withoutListening(['i', 'see'], listening(['i', 'i see', ' ']))).toEqual([]);
    expect(withoutListening(['stop'], listening(['']))).toEqual(['stop']);
    expect(withoutListening(['ben', 'anladım'], listening(['Ben anladım']))).toEqual([]);
    expect(withoutListening(['no'], listening(['no problem']), { unfinished: true })).toEqual(['no']);
    expect(withoutListening(['no'], listening(['no problem']), { unfinished: true, patient: true })).toEqual(
      [],
    );
    expect(withoutListening(['no', 'problem'], listening(['no problem']))).toEqual([]);
  });
});
