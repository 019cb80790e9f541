/** Key presses, and callers who say nothing. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { newToolBook, readingTool } from '../../support/core/tool-book.ts';

export const keysAndIdle: readonly Dialogue[] = [
  dialogue('keys become an entry when the caller stops pressing', (begin) => {
    const call = begin().opens().presses('1').later(2_900).presses('2').later(2_999).rounds(0);
    call
      .later(1)
      .orders('playout.open 1', 'llm.start 1')
      .llmIsAsked('user: [The caller pressed the keys: 12]');
  }),

  dialogue('the terminator completes an entry at once, and alone it is an entry of its own', (begin) => {
    begin().opens().presses('42#').llmIsAsked('user: [The caller pressed the keys: 42]');
    begin().opens().presses('#').llmIsAsked('user: [The caller pressed the keys: #]');
  }),

  dialogue('another terminator, or none, is one of the agent file', (begin) => {
    const star = { ...scriptSettings.dtmf, terminator: '*' };
    const call = begin({ settings: { dtmf: star } })
      .opens()
      .presses('4#2')
      .rounds(0);
    call.presses('*').llmIsAsked('user: [The caller pressed the keys: 4#2]');
    const none = begin({ settings: { dtmf: { ...star, terminator: '' } } })
      .opens()
      .presses('4*#');
    none.rounds(0).later(3_000).llmIsAsked('user: [The caller pressed the keys: 4*#]');
  }),

  dialogue('a terminator alone can be no entry', (begin) => {
    const dtmf = { ...scriptSettings.dtmf, loneTerminator: false };
    const call = begin({ settings: { dtmf } }).opens().presses('##').later(5_000).rounds(0);
    call.presses('4#').llmIsAsked('user: [The caller pressed the keys: 4]');
  }),

  dialogue('a terminator behind the last digit is part of no entry, and leaves the answer alone', (begin) => {
    const dtmf = { ...scriptSettings.dtmf, maxDigits: 4, loneTerminator: false };
    const early = begin({ settings: { dtmf } }).opens().presses('4711').rounds(1);
    early.presses('#').rounds(1).llmAnswers('It is near.').botPlays(300);
    early.skips().presses('#').orders().botFinishes().rounds(1);
    early
      .callerSays('Thank you.')
      .llmIsAsked('user: [The caller pressed the keys: 4711]', 'assistant: It is near.', 'user: Thank you.');
  }),

  dialogue('the digit limit, the time between digits and the note are those of the agent file', (begin) => {
    const note = '[Arayan {digits} tuşlarına bastı]';
    const dtmf = { ...scriptSettings.dtmf, maxDigits: 3, interDigitMs: 500, note };
    const call = begin({ settings: { dtmf } }).opens().presses('123').rounds(1);
    call.llmIsAsked('user: [Arayan 123 tuşlarına bastı]').llmAnswers('Ok.').botFinishes();
    call
      .presses('4')
      .later(499)
      .rounds(1)
      .later(1)
      .llmIsAsked('user: [Arayan 123 tuşlarına bastı]', 'assistant: Ok.', 'user: [Arayan 4 tuşlarına bastı]');
  }),

  dialogue('keys that are not collected neither interrupt nor enter the conversation', (begin) => {
    const dtmf = { ...scriptSettings.dtmf, collect: false };
    const call = begin({ settings: { dtmf } })
      .opens()
      .callerSays('Menu.')
      .llmAnswers('Press nothing.')
      .botPlays(300);
    call.skips().presses('1#').orders().botFinishes().later(5_000).rounds(1);
  }),

  dialogue('keys into a running tool give reading up and are answered', (begin) => {
    const tools = newToolBook({ tools: { weather: readingTool } });
    const call = begin({ settings: { tools } }).opens().callerSays('Hm?').llmCalls('weather').presses('1#');
    call.running().rounds(2);
    const before = ['user: Hm?', 'assistant: -> weather', 'weather: !interrupted'];
    call.llmSees(...before, 'user: [The caller pressed the keys: 1]');
  }),

  dialogue('an entry has at most twenty digits', (begin) => {
    begin()
      .opens()
      .presses('1'.repeat(20))
      .rounds(1)
      .llmIsAsked(`user: [The caller pressed the keys: ${'1'.repeat(20)}]`);
  }),

  dialogue('a key cuts the bot at once, and the entry is answered', (begin) => {
    const call = begin().opens().callerSays('Menu.').llmAnswers('Press one for sales.').botPlays(500).skips();
    call.presses('1').orders('playout.clear 2', 'tts.cancel 1');
    call.later(3_000).orders('playout.open 2', 'llm.start 3');
    call.llmIsAsked('user: Menu.', 'assistant: Press one', 'user: [The caller pressed the keys: 1]');
  }),

  dialogue('when keys do not interrupt, the entry is answered after the response', (begin) => {
    const interrupt = { ...scriptSettings.interrupt, enabled: true, dtmf: false };
    const call = begin({ settings: { interrupt } })
      .opens()
      .callerSays('Menu.')
      .llmAnswers('Press one.')
      .skips();
    call.presses('1#').orders().botFinishes();
    call
      .llmIsAsked('user: Menu.', 'assistant: Press one.', 'user: [The caller pressed the keys: 1]')
      .rounds(2);
  }),

  dialogue('keys pressed while the caller speaks are answered with the turn', (begin) => {
    const call = begin().opens().callerBegins().presses('7#').skips().sttHears('That one.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().rounds(1);
    call.llmIsAsked('user: That one.', 'user: [The caller pressed the keys: 7]');
  }),

  dialogue('words that follow keys wait for the entry, and both are one turn in their order', (begin) => {
    const call = begin()
      .opens()
      .presses('12')
      .later(500)
      .callerBegins()
      .sttHears('That is it.')
      .callerStops();
    call.silenceEndsTheTurn().sttFinalizes().rounds(0).later(1_000).rounds(0).skips().presses('3');
    call.later(2_999).rounds(0).later(1).orders('playout.open 1', 'llm.start 1');
    call.llmIsAsked('user: [The caller pressed the keys: 123]', 'user: That is it.');
    call.llmAnswers('Thanks.').botFinishes().later(5_000).rounds(1);
  }),

  dialogue('keys that follow words are awaited, and both are one turn in their order', (begin) => {
    const call = begin().opens().callerBegins().sttHears('My number is.').callerStops().presses('4');
    call.silenceEndsTheTurn().sttFinalizes().later(1_000).presses('2').later(1_000).rounds(0).presses('#');
    call.rounds(1).llmIsAsked('user: My number is.', 'user: [The caller pressed the keys: 42]');
    call.llmAnswers('Thanks.').botFinishes().later(5_000).rounds(1);
  }),

  dialogue('who goes on speaking while keys are awaited says more of the same turn', (begin) => {
    const call = begin()
      .opens()
      .presses('1')
      .callerBegins()
      .sttHears('That')
      .callerStops()
      .silenceEndsTheTurn();
    call.sttFinalizes().callerBegins().sttHears('is it.').later(1_000).callerStops().silenceEndsTheTurn();
    call.sttFinalizes().rounds(1);
    call.llmIsAsked('user: [The caller pressed the keys: 1]', 'user: That is it.');
  }),

  dialogue('an STT that fails while keys are awaited loses nothing', (begin) => {
    const call = begin().opens().presses('1').callerBegins().sttHears('That is it.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().tell({ type: 'stt.failed' }).later(3_000);
    call.llmIsAsked('user: [The caller pressed the keys: 1]', 'user: That is it.');
  }),

  dialogue('keys are answered even when the turn turns out to be a noise', (begin) => {
    const call = begin()
      .opens()
      .callerBegins()
      .presses('7#')
      .callerStops()
      .silenceEndsTheTurn()
      .sttFinalizes();
    call.rounds(1).llmIsAsked('user: [The caller pressed the keys: 7]');
  }),

  dialogue('a key into a candidate cuts, and a sound in it is thrown away', (begin) => {
    const call = begin().opens().callerSays('Menu.').llmAnswers('Press one for sales.').botPlays(500).skips();
    call.callerBegins().sttGuesses('Hmm').callerStops().presses('1');
    call.orders(
      ...['playout.pause', 'stt.listen', 'stt.finalize', 'playout.resume', 'playout.clear 2', 'tts.cancel 1'],
    );
    call.sttHears('Hmm.').sttFinalizes().later(3_000);
    call.llmIsAsked('user: Menu.', 'assistant: Press one for', 'user: [The caller pressed the keys: 1]');
  }),

  dialogue('a key completed while the caller goes on speaking is answered with that turn', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Menu.')
      .llmAnswers('Press one for sales.')
      .botPlays(500)
      .callerBegins();
    call.skips().presses('#').without('llm.start').sttFinalizes().sttHears('Please.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().rounds(2);
    call.llmIsAsked(
      'user: Menu.',
      'assistant: Press one',
      'user: Please.',
      'user: [The caller pressed the keys: #]',
    );
  }),

  dialogue('keys are not answered into the words of a caller who may not interrupt', (begin) => {
    const interrupt = { ...scriptSettings.interrupt, enabled: false, dtmf: false };
    const call = begin({ settings: { interrupt } }).opens().callerSays('Menu.').llmAnswers('Press one.');
    call.presses('1#').callerBegins().callerInsists().skips().botFinishes().without('llm.start');
    call.sttHears('Sales.').callerStops().silenceEndsTheTurn().sttFinalizes().rounds(2);
  }),

  dialogue('a caller who says nothing is asked, twice, and then the call ends', (begin) => {
    const call = begin().opens().later(9_999).orders();
    call.later(1).botSays('Are you still there?').botFinishes().later(10_000).botSays('Are you still there?');
    call.botFinishes().later(9_999).ends(undefined).later(1).botSays('Goodbye.').ends(undefined);
    call.botFinishes().ends('ended', 'silence').waitsForNothing();
  }),

  dialogue('an answer to the question starts the count again', (begin) => {
    const call = begin({ settings: { idle: { askAfterMs: 10_000, ask: 'There?', endAfter: 1 } } }).opens();
    call.later(10_000).botSays('There?').botFinishes().callerSays('Yes.').llmAnswers('Good.').botFinishes();
    call.later(10_000).botSays('There?').botFinishes().later(10_000).botSays('Goodbye.');
  }),

  dialogue('a caller who looks something up is given a minute, and is not hung up on', (begin) => {
    const call = begin().opens().callerSays('One moment please, I have to look for it.').llmAnswers('Sure.');
    call.botFinishes().later(59_999).botSays('Sure.').later(1).botSays('Are you still there?').botFinishes();
    call.later(60_000).botSays('Are you still there?').botFinishes().later(60_000).ends(undefined);
    call.botSays('Are you still there?').botFinishes().callerSays('Here it is.').llmAnswers('Good.');
    call.botFinishes().later(10_000).botSays('Are you still there?');
  }),

  dialogue('with askAfterMs 0 nobody is asked', (begin) => {
    const call = begin({ settings: { idle: { askAfterMs: 0, ask: 'There?', endAfter: 1 } } }).opens();
    call.later(500_000).orders();
  }),

  dialogue('nobody is asked while the caller speaks or the bot answers', (begin) => {
    const call = begin().opens().callerBegins().later(30_000).orders('stt.listen');
    call.sttHears('Long story.').callerStops().silenceEndsTheTurn().sttFinalizes().skips();
    call.llmWrites('I see. ').botPlays(Infinity).later(1_400).without('playout.open');
    call.llmAnswers('Go on.').botFinishes().skips().later(9_999).orders();
    call.later(1).botSays('Are you still there?');
  }),
];
