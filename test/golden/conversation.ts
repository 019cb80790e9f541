/** Greeting, turns, answers, pieces and marks when nothing goes wrong. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../support/core/dialogue.ts';

export const conversation: readonly Dialogue[] = [
  dialogue('the bot greets as soon as the call is open', (begin) => {
    const call = begin({ settings: { greeting: 'Hello! How can I help?' }, echoMs: 100 }).opens();
    call.orders('playout.open 1', 'tts.speak 1 "Hello! "', 'tts.speak 1 "How can I help?"', 'tts.flush 1');
    call.botFinishes().orders('playout.mark m1', 'playout.mark m2');
    call
      .callerSays('The time, please.')
      .llmIsAsked('assistant: Hello! How can I help?', 'user: The time, please.');
  }),

  dialogue('without a greeting the caller speaks first', (begin) => {
    const call = begin().opens().orders();
    call.callerSays('Hello?').llmIsAsked('user: Hello?');
  }),

  dialogue('a turn is heard, finalized and answered', (begin) => {
    const call = begin().opens();
    call.callerBegins().orders('stt.listen');
    call.sttGuesses('What').sttGuesses('What time is').callerStops().orders();
    call.silenceEndsTheTurn().orders('stt.finalize');
    call.sttHears('What time is it?').orders();
    call.sttFinalizes().orders('playout.open 1', 'llm.start 1').llmIsAsked('user: What time is it?');
    call.llmWrites('It is ').orders();
    call.llmWrites('ten. Anything').orders('tts.speak 1 "It is ten. "');
    call.llmWrites(' else?').llmIsDone().orders('tts.speak 1 "Anything else?"', 'tts.flush 1');
    call.botFinishes().callerSays('No.');
    call.llmIsAsked('user: What time is it?', 'assistant: It is ten. Anything else?', 'user: No.');
  }),

  dialogue('the prompt leads every request', (begin) => {
    const call = begin().opens().callerSays('Hi.');
    assert.deepEqual(call.request[0], { role: 'system', text: 'Be brief.' });
    call.llmAnswers('Hi.').botFinishes().callerSays('Well?');
    assert.deepEqual(call.request[0], { role: 'system', text: 'Be brief.' });
    assert.equal(call.request.length, 4);
  }),

  dialogue('a turn may hold several finals, and a partial counts where no final came', (begin) => {
    const call = begin().opens().callerBegins();
    call.sttHears('I need').sttGuesses('two').sttHears('two tickets').sttGuesses('for Monday');
    call.callerStops().silenceEndsTheTurn().sttFinalizes().llmIsAsked('user: I need two tickets for Monday');
  }),

  dialogue('a pause that is too short ends nothing', (begin) => {
    const call = begin().opens().callerBegins().sttHears('I would like').callerStops().skips();
    call
      .later(350)
      .callerBegins()
      .orders('stt.listen')
      .later(1_000)
      .sttHears('a table.')
      .callerStops()
      .silenceEndsTheTurn()
      .orders('stt.finalize');
    call.sttFinalizes().llmIsAsked('user: I would like a table.');
  }),

  dialogue(
    'a voice that comes back at the last moment holds the decision until it is speech or not',
    (begin) => {
      const call = begin().opens().callerBegins().callerStops().skips();
      call.later(490).tell({ type: 'voice.resumed' }).later(190).orders();
      call.later(20).orders('stt.finalize');
    },
  ),

  dialogue(
    'a noise that flickers in the silence cannot hold the turn open for longer than the longest silence',
    (begin) => {
      const call = begin().opens().callerBegins().callerStops().skips();
      for (let flickers = 0; flickers < 15; flickers += 1)
        call.later(150).tell({ type: 'voice.resumed' }).orders();
      call.later(60).orders('stt.finalize');
    },
  ),

  dialogue('the caller goes on while STT is finalizing: it stays one turn', (begin) => {
    const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn().skips();
    call.callerBegins().orders('stt.listen');
    call.sttHears('A table').sttFinalizes().orders();
    call.callerStops().silenceEndsTheTurn().orders('stt.finalize');
    call.sttHears('for two.').sttFinalizes().llmIsAsked('user: A table for two.');
  }),

  dialogue('an answer waits for every finalize that is owed to the turn', (begin) => {
    const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn();
    call.callerBegins().callerStops().silenceEndsTheTurn().skips();
    call.sttHears('One').sttFinalizes().orders();
    call.sttHears('two.').sttFinalizes().llmIsAsked('user: One two.');
  }),

  dialogue('the caller goes on while the LLM thinks: nothing was said, so both turns stand', (begin) => {
    const call = begin().opens().callerSays('A table').skips();
    call.callerBegins().orders('playout.pause', 'stt.listen');
    call.callerInsists().orders('playout.clear 2 unheard', 'llm.cancel', 'tts.cancel 1');
    call.sttHears('for four.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: A table', 'user: for four.');
  }),

  dialogue('text of an older request is dropped', (begin) => {
    const call = begin().opens().callerSays('One.').callerBegins().callerInsists().sttHears('Two.');
    call.callerStops().silenceEndsTheTurn().sttFinalizes().skips();
    call.tell({ type: 'llm.text', round: 1, text: 'That was the old answer. ' }).orders();
    call.tell({ type: 'llm.done', round: 1, finish: 'stop', toolCalls: [] }).orders();
    call.llmWrites('That is the new one. ').orders('tts.speak 2 "That is the new one. "');
  }),

  dialogue('facts about audio of an older context are dropped', (begin) => {
    const call = begin()
      .opens()
      .callerSays('One.')
      .llmAnswers('First.')
      .botFinishes()
      .callerSays('Two.')
      .skips();
    call.tell({ type: 'tts.spoken', context: 1, chars: 6, audioMs: 300 });
    call.tell({ type: 'tts.flushed', context: 1, audioMs: 300 });
    call.tell({ type: 'playout.started', context: 1, audioAt: 0 });
    call.tell({ type: 'playout.drained', context: 1, sentMs: 300 }).orders();
  }),

  dialogue('the time of an answered turn is measured once, and its parts follow one another', (begin) => {
    const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn().sttHears('Hm?').later(90);
    call.sttFinalizes().later(300).llmAnswers('Yes.').later(150).skips().botPlays(100);
    const measured = call.measured();
    assert.equal(measured.length, 1);
    assert.deepEqual(measured[0], {
      endOfTurnMs: 700,
      sttFinalMs: 90,
      llmTtftMs: 300,
      ttsTtfbMs: 150,
      wireMs: 0,
      responseMs: 1_240,
      filled: false,
    });
  }),

  dialogue('words are respelled for TTS and kept as written in the context', (begin) => {
    const call = begin({ settings: { pronounce: { SQL: 'sequel' } }, echoMs: 50 }).opens();
    call
      .callerSays('What?')
      .llmAnswers('Learn SQL. Then sleep well.')
      .botSays('Learn sequel. Then sleep well.');
    call.botFinishes().callerSays('Why?');
    call.llmIsAsked('user: What?', 'assistant: Learn SQL. Then sleep well.', 'user: Why?');
  }),

  dialogue('TTS that reports no pieces still gets a mark at the end', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('One sentence. And another one.').skips();
    call.tell({ type: 'tts.flushed', context: 1, audioMs: 1_500 }).orders('playout.mark m1');
  }),

  dialogue('a client that echoes is waited for, and no longer than the grace time', (begin) => {
    const call = begin({ echoMs: 250 }).opens().callerSays('One.').llmAnswers('First.').botFinishes();
    call.callerSays('Two.').llmAnswers('Second.').botPlays(Infinity).drains().skips();
    call.later(100).callerBegins().ordered('playout.pause');
    call.later(50).ordered('stt.listen').llmIsAsked('user: One.', 'assistant: First.', 'user: Two.');
  }),

  dialogue('a client that stops echoing does not stop the call', (begin) => {
    const call = begin({ echoMs: 250 }).opens().callerSays('One.').llmAnswers('First.').botFinishes();
    call.callerSays('Two.').llmAnswers('Second.');
    call.losesEchoes().botPlays(Infinity).drains().later(3_240).skips();
    call.callerBegins().orders('stt.listen');
  }),
];
