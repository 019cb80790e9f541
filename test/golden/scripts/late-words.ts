/** Turns that are answered before anybody knows their words, which are written down beside the answer, behind it, or never. */
import { unwritten } from '../../../worker/core/unwritten.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import type { Script } from '../../support/core/script.ts';

/** The model hears the caller; of the words is known that they are to come. */
const speaks = (call: Script): Script =>
  call.callerBegins().callerInsists().callerStops().silenceEndsTheTurn().sttHears(unwritten).sttFinalizes();
const writes = (call: Script, text: string): Script => call.tell({ type: 'words.written', text });
const note = `user: ${unwritten}`;

export const lateWords: readonly Dialogue[] = [
  dialogue('a turn is asked for without its words, and has them when they come', (begin) => {
    const call = speaks(begin().opens()).llmIsAsked(note);
    writes(call, 'What time is it?').llmAnswers('It is noon.').botFinishes();
    speaks(call).llmIsAsked('user: What time is it?', 'assistant: It is noon.', note);
  }),

  dialogue('words that come behind the answer stand before it', (begin) => {
    const call = speaks(begin().opens()).llmAnswers('It is noon.').botFinishes();
    writes(call, 'What time is it?');
    call
      .callerSays('Thanks.')
      .llmIsAsked('user: What time is it?', 'assistant: It is noon.', 'user: Thanks.');
  }),

  dialogue('words of two turns keep to theirs', (begin) => {
    const call = speaks(begin().opens()).llmAnswers('Yes?').botFinishes();
    speaks(call).llmIsAsked(note, 'assistant: Yes?', note);
    writes(call, 'Hello.');
    writes(call, 'What time is it?');
    call.llmAnswers('Noon.').botFinishes();
    call.callerSays('Thanks.');
    call.llmIsAsked(
      'user: Hello.',
      'assistant: Yes?',
      'user: What time is it?',
      'assistant: Noon.',
      'user: Thanks.',
    );
  }),

  dialogue('a turn of two stretches has its words once', (begin) => {
    const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn();
    call.sttHears(unwritten).callerBegins().callerStops().silenceEndsTheTurn();
    call.sttFinalizes().sttHears(unwritten).sttFinalizes();
    writes(call, 'What time is it in Rome?');
    call.llmAnswers('Noon.').botFinishes();
    speaks(call).llmIsAsked('user: What time is it in Rome?', 'assistant: Noon.', note);
  }),

  dialogue('words that nobody knows are those of no other turn', (begin) => {
    const call = speaks(begin().opens()).llmAnswers('It is noon.').botFinishes();
    writes(call, '');
    writes(speaks(call), 'Thanks.');
    call.llmAnswers('Bye.').botFinishes();
    call
      .callerSays('Bye.')
      .llmIsAsked(
        'user: [unheard]',
        'assistant: It is noon.',
        'user: Thanks.',
        'assistant: Bye.',
        'user: Bye.',
      );
  }),

  dialogue('words that a worker owed die with it, and are those of no other turn', (begin) => {
    const call = speaks(begin().opens()).llmAnswers('It is noon.').botFinishes();
    writes(speaks(call.workerIsLost()), 'Thanks.');
    call.llmAnswers('Bye.').botFinishes();
    call
      .callerSays('Bye.')
      .llmIsAsked(
        'user: [unheard]',
        'assistant: It is noon.',
        'user: Thanks.',
        'assistant: Bye.',
        'user: Bye.',
      );
  }),

  dialogue('an answer that another worker makes knows that the words are gone', (begin) => {
    const call = speaks(begin().opens()).llmIsAsked(note);
    call.workerIsLost().llmIsAsked('user: [unheard]');
  }),

  dialogue('the voice alone interrupts where STT has told words as they came, and is late', (begin) => {
    const interrupt = { ...scriptSettings.interrupt, minWords: 1, wordlessMs: 1_000 };
    const call = begin({ settings: { interrupt } })
      .opens()
      .callerSays('Hello.')
      .llmAnswers('Yes?')
      .botFinishes();
    speaks(call).llmAnswers('Once upon a time there was a king.').botPlays(300).skips();
    call.callerBegins().callerInsists().without('playout.clear');
    call.later(750).callerGoesOn(1_000).ordered('playout.clear 3');
  }),

  dialogue('the voice alone interrupts the greeting where STT is known to tell words at its end', (begin) => {
    const greeted = (tellsLate: boolean): Script => {
      const interrupt = {
        ...scriptSettings.interrupt,
        minWords: 1,
        wordlessMs: 600,
        greeting: true,
        tellsLate,
      };
      const call = begin({ settings: { greeting: 'Good evening, this is the desk.', interrupt } });
      call.opens().botPlays(300).skips().callerBegins().callerInsists().without('playout.clear');
      return call.later(600).callerGoesOn(600);
    };
    greeted(false).without('playout.clear');
    greeted(true).ordered('playout.clear 2');
  }),
];
