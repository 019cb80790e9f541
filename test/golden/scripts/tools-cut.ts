/** Tools that the caller speaks into, and tools whose call ends, moves to another worker or was never certain. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import type { Script } from '../../support/core/script.ts';
import { effectTool, newToolBook, readingTool } from '../../support/core/tool-book.ts';

const tools = newToolBook({ tools: { weather: readingTool, book: effectTool } });
const settings = { tools };
const speculate = { ...settings, turn: { ...scriptSettings.turn, speculate: true } };

/** The caller pauses behind words that may be all of the turn. */
const pausesAfter = (call: Script, text: string): Script =>
  call.callerBegins().callerInsists().sttHears(text).callerStops();

export const toolsCut: readonly Dialogue[] = [
  dialogue('reading is given up when the caller speaks into it, and the LLM is told so', (begin) => {
    const call = begin({ settings }).opens().callerSays('Is it warm?').llmCalls('weather');
    call.skips().callerSays('In Rome, I mean.').ordered('tools.answered').running();
    assert.equal(call.tools.givenUp('weather'), 'interrupted');
    const before = ['user: Is it warm?', 'assistant: -> weather', 'weather: !interrupted'];
    call.llmSees(...before, 'user: In Rome, I mean.');
    call.toolAnswers('weather', 'late').rounds(2);
  }),

  dialogue('an effect goes on when the caller speaks into it; its outcome follows as a note', (begin) => {
    const call = begin({ settings })
      .opens()
      .callerSays('Book it.')
      .llmWrites('One second. ')
      .llmCalls('book');
    call.botPlays(200).callerSays('For two.').running('book');
    const before = ['user: Book it.', 'assistant: One', 'assistant: -> book', 'book: still running'];
    call
      .llmSees(...before, 'user: For two.')
      .llmAnswers('I will.')
      .toolAnswers('book', 'booked')
      .rounds(2);
    call.botFinishes();
    const note = 'note: The earlier call of book has ended: booked';
    call.llmSees(...before, 'user: For two.', 'assistant: I will.', note);
  }),

  dialogue('whoever waits in silence for an effect hears its outcome at once, and once', (begin) => {
    const call = begin({ settings })
      .opens()
      .callerSays('Book it.')
      .llmCalls('book')
      .callerSays('Are you there?');
    call.llmAnswers('It runs.').botFinishes().later(2_000).rounds(2).toolAnswers('book', 'booked').rounds(3);
    call.llmAnswers('It is booked.').botSays('It is booked.').botFinishes().callerSays('Fine.');
    call.llmSees(
      'user: Book it.',
      'assistant: -> book',
      'book: still running',
      'user: Are you there?',
      'assistant: It runs.',
      'note: The earlier call of book has ended: booked',
      'assistant: It is booked.',
      'user: Fine.',
    );
  }),

  dialogue('the outcome of an effect that ends while the caller speaks is known to the answer', (begin) => {
    for (const turnSettings of [settings, speculate]) {
      const call = begin({ settings: turnSettings }).opens().callerSays('Book it.').llmCalls('book');
      pausesAfter(call, 'For two.').toolAnswers('book', 'booked').silenceEndsTheTurn().sttFinalizes();
      const before = ['user: Book it.', 'assistant: -> book', 'book: still running', 'user: For two.'];
      call.llmSees(...before, 'note: The earlier call of book has ended: booked');
    }
  }),

  dialogue('an effect whose outcome is lost after an interruption is said to be so', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book it.').llmCalls('book').callerSays('For two.');
    call.llmAnswers('I will.').botFinishes().later(9_000).running();
    assert.equal(call.tools.givenUp('book'), 'timeout');
    call.llmSees(
      'user: Book it.',
      'assistant: -> book',
      'book: still running',
      'user: For two.',
      'assistant: I will.',
      'note: The earlier call of book has ended: !outcome_unknown',
    );
  }),

  dialogue('a noise into a running tool changes nothing', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather', 'book').callerBegins();
    call.callerStops().later(600).running('weather', 'book').toolAnswers('weather').toolAnswers('book');
    call.rounds(2);
  }),

  dialogue('results that come while a candidate holds the output are answered all the same', (begin) => {
    const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather').callerBegins();
    call.toolAnswers('weather', 'fog').rounds(2).llmAnswers('Fog.').callerStops().later(600).botSays('Fog.');
  }),

  dialogue('a call that ends tells its tools, whoever ends it', (begin) => {
    for (const type of ['call.closed', 'call.shutdown'] as const) {
      const call = begin({ settings }).opens().callerSays('Hm?').llmCalls('weather', 'book').tell({ type });
      call.running().waitsForNothing().toolAnswers('book').skips().later(60_000).orders();
      assert.equal(call.tools.givenUp('weather'), 'abandoned');
    }
  }),

  dialogue('an effect that outlasted an interruption is told of the end of the call, too', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book it.').llmCalls('book').callerSays('Bye.');
    call.llmCalls('end_call').botFinishes().ends('ended').running();
    assert.equal(call.tools.givenUp('book'), 'abandoned');
  }),

  dialogue(
    'tools of an answer that is begun early run once the turn is certainly over, and once',
    (begin) => {
      const call = pausesAfter(begin({ settings: speculate }).opens(), 'Book it.').rounds(1);
      call.llmCalls('weather', 'book').running().silenceEndsTheTurn().running().sttFinalizes();
      call.running('weather', 'book').rounds(1).toolAnswers('weather', 'fog').toolAnswers('book');
      call.llmSees('user: Book it.', 'assistant: -> weather, book', 'weather: fog', 'book: fine');
      assert.equal(call.tools.orders('book').length, 1);
    },
  ),

  dialogue('tools of an answer that was begun too early never run', (begin) => {
    const call = pausesAfter(begin({ settings: speculate }).opens(), 'Book it.').llmCalls('weather', 'book');
    call.callerBegins().sttHears('Or not.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.running().llmSees('user: Book it. Or not.');
    assert.deepEqual([...call.tools.orders('book'), ...call.tools.orders('weather')], []);
  }),

  dialogue('end_call hangs up after the words that came with it, or after the farewell', (begin) => {
    const call = begin({ settings }).opens().callerSays('Bye.').llmWrites('See you.').llmCalls('end_call');
    call.botSays('See you.').rounds(1).botFinishes().ends('ended');
    const mute = begin({ settings }).opens().callerSays('Bye.').llmCalls('end_call').botSays('Goodbye.');
    mute.botFinishes().ends('ended');
  }),

  dialogue('end_call waits for the tools that were called with it', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book it, bye.').llmWrites('Done, bye. ');
    call.llmCalls('end_call', 'book').botPlays(Infinity).running('book');
    call.ends(undefined).toolAnswers('book').rounds(1).later(0).drains().later(500).ends('ended');
  }),

  dialogue('another worker reads again, and does not repeat an effect', (begin) => {
    const call = begin({ settings }).opens().callerSays('Book.').llmCalls('weather', 'book').workerIsLost();
    call.running('weather').rounds(1).toolAnswers('weather', 'fog').rounds(2);
    call.llmSees('user: Book.', 'assistant: -> weather, book', 'weather: fog', 'book: !outcome_unknown');
    call.llmCalls({ name: 'book', id: 'again' }).running();
  }),

  dialogue(
    'another worker goes on with the results that had come, and with what a turn has done',
    (begin) => {
      const call = begin({ settings })
        .opens()
        .callerSays('Book.')
        .llmCalls('book')
        .toolAnswers('book', 'booked');
      call.workerIsLost().rounds(3).llmSees('user: Book.', 'assistant: -> book', 'book: booked');
      call.llmCalls({ name: 'book', id: 'again' }).running();
    },
  ),

  dialogue(
    'another worker says of an effect that outlasted an interruption that its outcome is lost',
    (begin) => {
      const call = begin({ settings }).opens().callerSays('Book.').llmCalls('book').callerSays('Hm?');
      call.workerIsLost().running().llmAnswers('Well.').botFinishes();
      call.llmSees(
        'user: Book.',
        'assistant: -> book',
        'book: still running',
        'user: Hm?',
        'assistant: Well.',
        'note: The earlier call of book has ended: !outcome_unknown',
      );
    },
  ),

  dialogue('a small context loses the oldest calls with their results, never one of the two', (begin) => {
    const call = begin({ settings: { ...settings, contextWindowTokens: 60 } }).opens();
    call.callerSays('Is it warm?').llmCalls('weather').toolAnswers('weather', 'It is warm in all places.');
    call.llmSees('user: Is it warm?', 'assistant: -> weather', 'weather: It is warm in all places.');
    call.llmAnswers('It is warm.').botFinishes().callerSays('Then book it, please.').llmCalls('book');
    call.toolAnswers('book', 'booked').prompted('Be brief.');
    call.llmSees(
      'assistant: It is warm.',
      'user: Then book it, please.',
      'assistant: -> book',
      'book: booked',
    );
  }),
];
