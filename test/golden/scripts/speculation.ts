/** Answers that are asked for before the turn is certainly over: given when the words were right, and otherwise never. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import type { Script } from '../../support/core/script.ts';

const settings = { turn: { ...scriptSettings.turn, speculate: true } };

/** STT is asked at 300 ms, which is 100 ms after the caller has stopped for the core. */
const early = { turn: { ...settings.turn, askEarlyMs: 300 } };

type Begin = Parameters<Dialogue['play']>[0];

/** The caller pauses behind these words. */
const pausing = (begin: Begin, text: string): Script =>
  begin({ settings }).opens().callerBegins().skips().sttHears(text).callerStops();

export const speculation: readonly Dialogue[] = [
  dialogue(
    'the LLM is asked at the pause, and its text is made to sound and kept until the turn is over',
    (begin) => {
      const call = pausing(begin, 'What time is it?')
        .orders('llm.start 1')
        .llmIsAsked('user: What time is it?');
      call.llmWrites('It is').orders().llmWrites(' ten. ').orders('tts.prepare "It is ten. "');
      call.llmWrites('It is late already. ').orders().silenceEndsTheTurn().orders('stt.finalize');
      const [first, second] = ['It is ten. ', 'It is late already. '].map((text) => `tts.speak 1 "${text}"`);
      call
        .sttFinalizes()
        .orders('playout.open 1', first ?? '', second ?? '')
        .rounds(1);
      call.llmAnswers('Anything else?').botFinishes().callerSays('No.');
      const said = 'assistant: It is ten. It is late already. Anything else?';
      call.llmIsAsked('user: What time is it?', said, 'user: No.');
    },
  ),

  dialogue('a short silence asks early, before the end of the turn is even considered', (begin) => {
    const call = begin({ settings }).opens().callerBegins().skips().sttHears('What time is it?');
    call.tell({ type: 'voice.paused', silenceMs: 224 }).orders('llm.start 1');
    call.llmWrites('It is ten. ').orders('tts.prepare "It is ten. "').callerStops().orders();
    call.silenceEndsTheTurn().orders('stt.finalize').sttFinalizes();
    call.orders('playout.open 1', 'tts.speak 1 "It is ten. "').rounds(1);
  }),

  dialogue('what was asked for at a short silence is dropped when more words come', (begin) => {
    const call = begin({ settings }).opens().callerBegins().skips().sttHears('A table');
    call.tell({ type: 'voice.paused', silenceMs: 224 }).orders('llm.start 1');
    call.callerBegins().orders().sttGuesses('for two').orders('llm.cancel');
    call.tell({ type: 'voice.paused', silenceMs: 224 }).orders().sttHears('for two.');
    call.tell({ type: 'voice.paused', silenceMs: 224 }).orders('llm.start 1');
    call.llmIsAsked('user: A table for two.');
  }),

  dialogue(
    'a short silence asks for nothing without words that were written since, behind a hesitation, or where nobody asks early',
    (begin) => {
      const short = { type: 'voice.paused', silenceMs: 224 } as const;
      begin({ settings }).opens().callerBegins().skips().tell(short).orders();
      begin({ settings }).opens().callerBegins().skips().sttGuesses('Yes').tell(short).orders();
      begin({ settings }).opens().callerBegins().skips().sttHears('Yes.').later(300).tell(short).orders();
      begin({ settings }).opens().callerBegins().skips().sttHears('I would like, um').tell(short).orders();
      begin().opens().callerBegins().skips().sttHears('What time is it?').tell(short).orders();
    },
  ),

  dialogue('an answer that is complete by then is spoken at once', (begin) => {
    const call = pausing(begin, 'What time is it?').llmAnswers('It is ten.').silenceEndsTheTurn().skips();
    call.sttFinalizes().orders('playout.open 1', 'tts.speak 1 "It is ten."', 'tts.flush 1');
  }),

  dialogue('its measurement counts from the decision, not from the pause', (begin) => {
    const call = pausing(begin, 'What time is it?')
      .llmAnswers('It is ten.')
      .silenceEndsTheTurn()
      .sttFinalizes();
    const [times] = call.skips().botPlays(100).measured();
    assert.equal(times?.llmTtftMs, 0);
    assert.equal(times.responseMs, 700);
  }),

  dialogue('when the final text differs, the answer is thrown away and the LLM is asked again', (begin) => {
    const call = pausing(begin, 'A table').llmWrites('For how many? ').silenceEndsTheTurn().skips();
    call
      .sttHears('for two.')
      .sttFinalizes()
      .orders('tts.forget', 'llm.cancel', 'playout.open 1', 'llm.start 1');
    call.llmIsAsked('user: A table for two.').llmAnswers('Fine.').botSays('Fine.');
  }),

  dialogue('words that come during the pause throw the answer away at once', (begin) => {
    const call = pausing(begin, 'A table').skips().sttHears('for two.').orders('llm.cancel', 'llm.start 1');
    call.llmIsAsked('user: A table for two.');
  }),

  dialogue('at most two requests of a turn are in vain', (begin) => {
    const call = pausing(begin, 'One').sttHears('two').sttHears('three').sttHears('four').rounds(2);
    call.silenceEndsTheTurn().sttFinalizes().rounds(3).llmIsAsked('user: One two three four');
  }),

  dialogue('nothing is asked behind a word that wants to go on', (begin) => {
    pausing(begin, 'A table for').rounds(0);
  }),

  dialogue('a guess that STT writes differently in the end is not trusted again', (begin) => {
    const call = begin({ settings }).opens().callerBegins().sttGuesses('two tickets').callerStops().rounds(1);
    call.silenceEndsTheTurn().sttHears('Two tickets.').sttFinalizes().rounds(2);
    call.llmAnswers('Fine.').botFinishes().callerBegins().sttGuesses('and a coat').callerStops().rounds(2);
    call.sttHears('And a coat.').rounds(3);
  }),

  dialogue('a caller who goes on with the same words keeps the request', (begin) => {
    const call = pausing(begin, 'What time is it?').llmWrites('It is ten. ').callerBegins().callerStops();
    call.silenceEndsTheTurn().sttFinalizes().rounds(1).botSays('It is ten. ');
  }),

  dialogue('a request that fails early is made again when the turn is over', (begin) => {
    const call = pausing(begin, 'What time is it?').llmWrites('It is ten. ').skips();
    call
      .llmFails()
      .orders('tts.forget')
      .silenceEndsTheTurn()
      .sttFinalizes()
      .rounds(2)
      .without('fault.noticed');
  }),

  dialogue('keys pressed meanwhile make the answer one to another conversation', (begin) => {
    const call = pausing(begin, 'That one.').llmAnswers('Which?').presses('7#').silenceEndsTheTurn();
    call.sttFinalizes().rounds(2).llmIsAsked('user: That one.', 'user: [The caller pressed the keys: 7]');
  }),

  dialogue(
    'a tool that the early answer calls runs once the turn is over, and never when it is not',
    (begin) => {
      const call = pausing(begin, 'Hang up.')
        .llmCalls('end_call')
        .without('tts.speak')
        .without('tts.prepare')
        .silenceEndsTheTurn();
      call.sttFinalizes().botSays('Goodbye.').botFinishes().ends('ended');
      const other = pausing(begin, 'Hang up.')
        .llmCalls('end_call')
        .sttHears('No, wait.')
        .silenceEndsTheTurn();
      other.sttFinalizes().llmAnswers('Yes?').botFinishes().ends(undefined);
    },
  ),

  dialogue('STT is asked early, so that its final text is answered when the turn ends', (begin) => {
    const call = begin({ settings: early }).opens().callerBegins().skips().callerStops();
    call.later(99).orders().later(1).orders('stt.flush');
    call.later(60).sttHears('What time is it?').orders('llm.start 1').sttFinalizes().orders();
    call
      .llmAnswers('It is ten.')
      .orders('tts.prepare "It is ten."')
      .silenceEndsTheTurn()
      .orders('stt.finalize');
    call.sttFinalizes().orders('playout.open 1', 'tts.speak 1 "It is ten."', 'tts.flush 1').rounds(1);
    call.llmIsAsked('user: What time is it?');
  }),

  dialogue('a caller who goes on after STT was asked early is heard to the end', (begin) => {
    const call = begin({ settings: early }).opens().callerBegins().callerStops().later(100).skips();
    call.later(30).callerBegins().orders('stt.listen').sttHears('A table').sttFinalizes().orders();
    call.callerStops().skips().later(100).orders('stt.flush').sttHears('for two.').sttFinalizes();
    call.silenceEndsTheTurn().sttFinalizes().llmIsAsked('user: A table for two.');
  }),

  dialogue('an answer waits for a text that was asked for early and is late', (begin) => {
    const call = begin({ settings: early }).opens().callerBegins().callerStops().silenceEndsTheTurn().skips();
    call.sttFinalizes().orders().sttHears('Two.').sttFinalizes();
    call.ordered('llm.start 1').llmIsAsked('user: Two.');
  }),

  dialogue('a voice too short to be speech is listened to, and STT is asked once more', (begin) => {
    const call = begin({ settings: early }).opens().callerBegins().callerStops().later(100).skips();
    call.sttHears('Two').sttFinalizes().skips().tell({ type: 'voice.resumed' }).orders('stt.listen');
    call.later(200).orders('stt.flush').sttHears('please.').ordered('llm.cancel').rounds(2);
    call.sttFinalizes().silenceEndsTheTurn().sttFinalizes().llmIsAsked('user: Two please.');
  }),

  dialogue('STT is not asked early for what it has called finished', (begin) => {
    const call = begin({ settings: early }).opens().callerBegins();
    call.sttHears('İki bilet ve', { speechFinal: true }).callerStops().skips();
    call.later(1_059).orders().later(1).orders('stt.finalize');
  }),
];
