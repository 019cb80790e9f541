/** When a turn is over: silence, the turn model, and what STT knows, as one decision that learns from the caller. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import type { Script } from '../../support/core/script.ts';

const withModel = { turn: { ...scriptSettings.turn, model: true } };

/** The caller says this and falls silent; `sttGuesses` or `sttHears` said it. The silence is `stopMs` long by now. */
const pausesAfter = (call: Script, text: string, speechFinal = false): Script =>
  call.callerBegins().sttHears(text, { speechFinal }).callerStops();

/** The turn model's answer to the newest question. */
const judged = (call: Script, ask: number, probability?: number): Script =>
  call.tell({ type: 'turn.judged', ask, probability });

export const turnTaking: readonly Dialogue[] = [
  dialogue('a sentence that STT calls finished is answered sooner', (begin) => {
    const call = pausesAfter(begin().opens(), 'Two tickets.', true).skips();
    call.later(199).orders().later(1).orders('stt.finalize');
  }),

  dialogue('a turn that ends in "and" is waited for', (begin) => {
    const call = pausesAfter(begin().opens(), 'İki bilet ve').skips();
    call.later(1_059).orders().later(1).orders('stt.finalize');
  }),

  dialogue('a sentence that has only begun is waited for, by what sentences end in', (begin) => {
    const call = pausesAfter(begin().opens(), 'i would like to book a table near the').skips();
    call.later(1_500).orders().later(600).orders('stt.finalize');
  }),

  dialogue('a sentence that is whole without a full stop is answered sooner', (begin) => {
    const call = pausesAfter(begin().opens(), 'my package has not arrived').skips();
    call.later(299).orders().later(1).orders('stt.finalize');
  }),

  dialogue('a melody of an end does not end words that have only begun', (begin) => {
    const call = begin({ settings: withModel }).opens().callerBegins();
    call.sttGuesses('i would like to book a table near the').callerStops();
    judged(call.skips(), 1, 0.95).later(1_500).orders().later(1_000).orders('stt.finalize');
  }),

  dialogue('words that come during the pause move its end', (begin) => {
    const call = begin().opens().callerBegins().callerStops().later(300).skips();
    call.sttHears('İki bilet ve').later(759).orders().later(1).orders('stt.finalize');
  }),

  dialogue('a turn model that is sure ends the turn at once', (begin) => {
    const call = begin({ settings: withModel }).opens().callerBegins().sttGuesses('iki bilet').skips();
    call.callerStops().orders('turn.judge');
    judged(call.later(60), 1, 0.8).orders('stt.finalize');
  }),

  dialogue('a turn model that doubts makes the pause longer', (begin) => {
    const call = begin({ settings: withModel }).opens().callerBegins().sttGuesses('iki bilet').callerStops();
    judged(call.later(60).skips(), 1, 0.25);
    call.later(1_339).orders().later(1).orders('stt.finalize');
  }),

  dialogue('the turn model is overruled by words that want to go on', (begin) => {
    const call = begin({ settings: withModel })
      .opens()
      .callerBegins()
      .sttGuesses('iki bilet için')
      .callerStops();
    judged(call.skips(), 1, 0.95).later(499).orders().later(1).orders('stt.finalize');
  }),

  dialogue(
    'each pause is asked about anew, and a late answer to an older one counts for nothing',
    (begin) => {
      const call = begin({ settings: withModel })
        .opens()
        .callerBegins()
        .callerStops()
        .callerBegins()
        .callerStops();
      judged(call.skips(), 1, 0.95).orders();
      judged(call, 2, 0.95).orders('stt.finalize');
    },
  ),

  dialogue('without an answer of the turn model silence decides', (begin) => {
    const call = begin({ settings: withModel }).opens().callerBegins().sttGuesses('iki bilet').callerStops();
    judged(call.skips(), 1).later(499).orders().later(1).orders('stt.finalize');
  }),

  dialogue(
    'who went on right after a decision is waited for longer, until three turns end rightly',
    (begin) => {
      const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn();
      call.callerBegins().sttFinalizes().sttHears('One more thing.').callerStops().skips();
      call.later(749).orders().later(1).orders('stt.finalize').sttFinalizes();
      for (let turn = 0; turn < 3; turn += 1) call.llmAnswers('Fine.').botFinishes().callerSays('Next.');
      call.llmAnswers('Fine.').botFinishes().callerBegins().callerStops().skips();
      call.later(499).orders().later(1).orders('stt.finalize');
    },
  ),

  dialogue('a caller who goes on before the answer is audible was cut off by the decision', (begin) => {
    const call = begin().opens().callerSays('A table').callerBegins().callerInsists().sttHears('for two.');
    call.callerStops().skips().later(749).orders().later(1).orders('stt.finalize');
  }),

  dialogue('a finished sentence is believed against a turn model that doubts', (begin) => {
    const call = begin({ settings: withModel }).opens();
    judged(pausesAfter(call, 'Two tickets.', true).skips(), 1, 0.05);
    call.later(499).orders().later(1).orders('stt.finalize');
  }),

  dialogue('nobody is waited for more than a second longer', (begin) => {
    const call = begin().opens().callerBegins();
    for (let turn = 0; turn < 6; turn += 1)
      call.callerStops().silenceEndsTheTurn().callerBegins().sttFinalizes();
    call.callerStops().skips().later(1_499).orders().later(1).orders('stt.finalize');
  }),
];
