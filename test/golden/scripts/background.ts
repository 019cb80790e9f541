/** Somebody else talks in the caller's room: voice detection hears a voice without an end, and STT says nothing of it. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import type { Script } from '../../support/core/script.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';

const byWords = { settings: { interrupt: { ...scriptSettings.interrupt, minWords: 1, wordlessMs: 1_000 } } };

/** STT tells that somebody else speaks now; `text` is what the caller has said in this stretch. */
const others = (call: Script, text = '', type: 'stt.partial' | 'stt.final' = 'stt.partial'): Script =>
  call.tell({ type, text, speechFinal: type === 'stt.final', isOthers: true, position: undefined });

export const background: readonly Dialogue[] = [
  dialogue('a turn ends when its words do, although a voice goes on', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is my order?').skips();
    call.later(2_399).orders().later(1).orders('stt.flush', 'stt.listen');
    call.sttHears('Where is my order?').sttFinalizes();
    call.later(1).ordered('stt.finalize').sttFinalizes().rounds(1).llmIsAsked('user: Where is my order?');
    call.llmAnswers('It comes today.').botSays('It comes today.').botFinishes();
  }),

  dialogue('it does not while STT finds more words in it', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is').later(2_400);
    call.sttHears('Where is my order?').sttFinalizes().later(2_300).rounds(0);
  }),

  dialogue('the agent answers into the voice, and words in it interrupt', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is my order?').later(2_400);
    call.sttHears('Where is my order?').sttFinalizes().later(1).sttFinalizes();
    call.llmAnswers('It comes today, at about four.').botPlays(500).skips();
    call.callerGoesOn(1_000).later(1_000).without('playout.clear', 'playout.pause');
    call.sttGuesses('Wait, I was').ordered('playout.clear 2');
  }),

  dialogue('what is asked while the agent answers into the voice is answered behind it', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is my order?').later(2_400);
    call.sttHears('Where is my order?').sttFinalizes().later(1).sttFinalizes();
    call.llmAnswers('Soon.').botFinishes().sttGuesses('And the bill?').later(2_400);
    call.sttHears('And the bill?').sttFinalizes().later(1).sttFinalizes().rounds(2);
  }),

  dialogue('an answer that is owed is spoken into a voice without words', (begin) => {
    const call = begin(byWords)
      .opens()
      .callerSays('Where is my order?')
      .llmAnswers('It comes today, at four.');
    call.botPlays(300).callerBegins().sttGuesses('Stop').ordered('playout.clear 2').sttHears('').skips();
    call.later(3_000).ordered('stt.flush');
  }),

  dialogue('a voice that comes back is given time for its first word', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('It comes today, at four.').botPlays(300);
    call.callerBegins().callerInsists().ordered('playout.clear 2').later(500).callerStops().presses('1');
    call.silenceEndsTheTurn().sttFinalizes().later(1_500).callerBegins().skips();
    call.later(999).orders().later(1).orders('stt.flush', 'stt.listen');
  }),

  dialogue('a soft voice without words is nobody who was not understood', (begin) => {
    const call = begin(byWords).opens().tell({ type: 'speech.started', belowCallerDb: 15 }).later(2_000);
    call.callerStops().silenceEndsTheTurn().sttFinalizes().rounds(0).skips().later(1_000).orders();
    const loud = begin(byWords).opens().tell({ type: 'speech.started', belowCallerDb: 2 }).later(2_000);
    loud.callerStops().silenceEndsTheTurn().sttFinalizes().botSays('Sorry, what was that?');
  }),

  dialogue('what STT makes of a noise is no turn and cuts nothing; said in a voice it counts', (begin) => {
    const noise = begin(byWords).opens().callerBegins().callerStops().sttHears('Thank you.');
    noise.silenceEndsTheTurn().sttFinalizes().rounds(0).later(3_000).rounds(0);
    const call = begin(byWords)
      .opens()
      .callerSays('Thank you.')
      .rounds(1)
      .llmAnswers('You are welcome, always.');
    call.botPlays(400).callerBegins().callerStops().skips().sttHears('Thank you.').without('playout.clear');
    call.sttFinalizes().later(1_000).callerBegins().callerInsists().sttHears('Thank you for watching.');
    call.ordered('playout.clear 2');
  }),

  dialogue('laughter is no answer, however STT spells it', (begin) => {
    for (const laugh of ['Ha ha ha.', 'Haha', 'Ha!', 'Hehehe', 'Jajaja', 'Hihi hihi']) {
      const call = begin(byWords).opens().callerSays('Tell me.').llmAnswers('A long joke, with a point.');
      call.botPlays(400).callerBegins().callerInsists().sttGuesses(laugh).without('playout.clear');
      call.callerStops().sttHears(laugh).sttFinalizes().without('playout.clear').botFinishes().rounds(1);
    }
  }),

  dialogue('laughter into silence is not answered, and no request is made for it', (begin) => {
    const turn = { ...scriptSettings.turn, speculate: true };
    for (const laugh of [
      'Ha ha ha.',
      'Haha!',
      'Hahahaha',
      'ha, ha',
      'Hehehe',
      'Hi hi hi',
      'Jajaja',
      'kkkkk',
      'LOL',
      'Ha.',
    ]) {
      const call = begin({ settings: { ...byWords.settings, turn } })
        .opens()
        .callerSays(laugh)
        .rounds(0);
      call.later(3_000).rounds(0).callerSays('Hi, I need a table.').rounds(1);
    }
    for (const words of ['He.', 'Ja ja ja.', 'Ha, I need a table.', 'Hi.'])
      begin(byWords).opens().callerSays(words).rounds(1);
  }),

  dialogue('a sound that STT notes is no word: it cuts nothing, and is not answered', (begin) => {
    for (const noted of [
      '[laughter]',
      '(coughs)',
      '*sighs*',
      '♪ la la ♪',
      '[BLANK_AUDIO]',
      '[Musik]',
      '(kahkaha)',
    ]) {
      const call = begin(byWords).opens().callerSays('Tell me.').llmAnswers('A long story, with a point.');
      call.botPlays(400).callerBegins().callerInsists().sttGuesses(noted).without('playout.clear');
      call.callerStops().sttHears(noted).sttFinalizes().without('playout.clear').botFinishes().rounds(1);
    }
    const call = begin(byWords).opens().callerSays('[laughter] Yes, [sighs] at eight.');
    call.llmIsAsked('user: Yes, at eight.');
    begin(byWords).opens().callerSays('It is [CREDIT_CARD_1].').llmIsAsked('user: It is [CREDIT_CARD_1].');
  }),

  dialogue('an STT that does not answer is asked once in a turn', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is').later(2_400).skips();
    call.later(2_100).ordered('fault stt stalled').later(20_000).without('stt.flush');
  }),

  dialogue('somebody else whom STT tells from the caller interrupts nothing and is not answered', (begin) => {
    for (const settings of [byWords.settings, {}]) {
      const call = begin({ settings }).opens().callerSays('Where is my order?');
      call.llmAnswers('It comes today, at about four.').botPlays(300).callerBegins();
      others(call).callerInsists().callerGoesOn(1_500);
      others(call, '', 'stt.final').callerStops().without('playout.clear').sttFinalizes().botFinishes();
      call.callerBegins();
      others(call).later(1_500);
      others(call, '', 'stt.final').callerStops().silenceEndsTheTurn().sttFinalizes().rounds(1).skips();
      call.later(2_000).orders();
      call
        .callerSays('Thanks.')
        .rounds(2)
        .llmIsAsked('user: Where is my order?', 'assistant: It comes today, at about four.', 'user: Thanks.');
    }
  }),

  dialogue('a turn is over behind its words where somebody else goes on', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is my order?').later(100);
    others(call, 'Where is my order?').later(299).rounds(0).skips();
    call.later(1).ordered('stt.finalize').sttHears('Where is my order?').sttFinalizes().rounds(1);
    call.llmIsAsked('user: Where is my order?').llmAnswers('It comes today.').botPlays(300).skips();
    others(call).callerGoesOn(1_000).later(1_000).without('playout.clear', 'playout.pause');
  }),

  dialogue('it is not where the caller goes on as well', (begin) => {
    const call = begin(byWords).opens().callerBegins().sttGuesses('Where is').later(300);
    others(call, 'Where is').later(200).sttGuesses('Where is my').later(2_300).rounds(0).skips();
    call.sttHears('Where is my order?').callerStops().silenceEndsTheTurn().sttFinalizes().rounds(1);
  }),
];
