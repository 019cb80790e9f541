/** Stages that fail, stall or return nothing. */
import { dialogue, type Dialogue } from '../support/script.ts';

export const failures: readonly Dialogue[] = [
  dialogue('an LLM that fails without a word leads to the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').skips().llmFails();
    call.orders('fault llm failed', 'tts.speak 1 "Sorry, say that again."', 'tts.flush 1');
  }),

  dialogue('an LLM that fails in the middle is spoken as far as it got', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('The first half. And the').skips().llmFails();
    call
      .orders('tts.speak 1 "And the"', 'tts.flush 1', 'fault llm failed')
      .botFinishes()
      .callerSays('Go on.');
    call.llmIsAsked('user: Hm?', 'assistant: The first half. And the', 'user: Go on.');
  }),

  dialogue('an empty answer leads to the apology', (begin) => {
    begin().opens().callerSays('Hm?').llmAnswers(' \n').botSays(' \nSorry, say that again.'.trim());
  }),

  dialogue('an LLM that stalls is cancelled and leads to the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').skips().later(11_999).orders();
    call.later(1).ordered('llm.cancel').ordered('fault llm stalled').botSays('Sorry, say that again.');
    call.llmWrites('Too late. ').botSays('Sorry, say that again.');
  }),

  dialogue('words of an LLM that stalled before its first piece are not glued to the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('Well, I').later(12_000);
    call.botSays('Sorry, say that again.');
  }),

  dialogue('an LLM that fails three times in a row ends the call after the apology', (begin) => {
    const call = begin().opens();
    for (const text of ['One.', 'Two.']) call.callerSays(text).llmFails().botFinishes().ends(undefined);
    call.callerSays('Three.').llmFails().botSays('Sorry, say that again.').botFinishes();
    call.botSays('Goodbye.').botFinishes().ends('ended');
  }),

  dialogue('an LLM that has nothing to say three times in a row ends the call as well', (begin) => {
    const call = begin().opens();
    for (const text of ['One.', 'Two.']) call.callerSays(text).llmAnswers(' ').botFinishes().ends(undefined);
    call.callerSays('Three.').llmAnswers(' ').botSays('Sorry, say that again.').botFinishes();
    call.botSays('Goodbye.').botFinishes().ends('ended');
  }),

  dialogue('an answer in between forgives the LLM', (begin) => {
    const call = begin().opens();
    for (const text of ['One.', 'Two.']) call.callerSays(text).llmFails().botFinishes();
    call.callerSays('Three.').llmAnswers('Fine.').botFinishes().callerSays('Four.').llmFails().botFinishes();
    call.callerSays('Five.').rounds(5);
  }),

  dialogue('TTS that fails before any audio speaks the answer again in a new session', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').skips().ttsFails();
    call.orders(
      'tts.reopen',
      'fault tts failed',
      'playout.clear 1 unheard',
      'playout.open 2',
      'tts.speak 2 "Here it is."',
      'tts.flush 2',
    );
  }),

  dialogue('TTS that fails while it speaks goes on after what exists', (begin) => {
    const call = begin({ echoMs: 100 })
      .opens()
      .callerSays('Hm?')
      .llmWrites('First part. ')
      .botPlays(300)
      .skips();
    call.ttsFails().orders('tts.reopen', 'fault tts failed', 'playout.finish 1');
    call.llmAnswers('Second part.').orders().botPlays(Infinity).skips();
    call.drains().orders('playout.open 2', 'tts.speak 2 "Second part."', 'tts.flush 2');
    call.botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: First part.', 'assistant: Second part.', 'user: Thanks.');
  }),

  dialogue('TTS that fails again and again ends the call', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').ttsFails().ttsFails();
    call.ends(undefined).ttsFails().ends('ended').waitsForNothing();
  }),

  dialogue('TTS that stalls before any audio is given up and asked again', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').skips().later(12_000);
    call.ordered('tts.cancel 1').ordered('tts.reopen').ordered('fault tts stalled').botSays('Here it is.');
    call.later(12_000).ends(undefined).later(12_000).ends('ended');
  }),

  dialogue('an answer that TTS speaks again does not play into a candidate', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Hm?')
      .llmAnswers('Here it is.')
      .callerBegins()
      .ttsFails()
      .skips();
    call.callerStops().later(400).orders('stt.finalize', 'playout.resume');
    const other = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').callerBegins().ttsFails();
    other.isHeld();
  }),

  dialogue('TTS that makes no sound is a fault and not a hang', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').skips();
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).orders('fault tts empty');
    call.later(10_000).botSays('Are you still there?');
  }),

  dialogue('STT that fails is reopened, and what it had said counts', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').skips();
    call.tell({ type: 'stt.failed' }).orders('stt.reopen', 'fault stt failed');
    call.sttHears('for two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: A table for two.');
  }),

  dialogue('STT that fails while it finalizes: the partial is answered', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').callerStops().silenceEndsTheTurn();
    call.tell({ type: 'stt.failed' }).llmIsAsked('user: A table');
  }),

  dialogue('STT that never answers is given up after its limit', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').callerStops().silenceEndsTheTurn();
    call.later(4_999).rounds(0).later(1).ordered('fault stt given_up').llmIsAsked('user: A table');
  }),

  dialogue('STT that forgot one finalize hears the next turn', (begin) => {
    const call = begin()
      .opens()
      .callerBegins()
      .sttGuesses('One.')
      .callerStops()
      .silenceEndsTheTurn()
      .later(5_000);
    call
      .llmAnswers('Fine.')
      .botFinishes()
      .callerSays('Two.')
      .llmIsAsked('user: One.', 'assistant: Fine.', 'user: Two.');
  }),

  dialogue('a long speech without words is apologised for, twice in a row at most', (begin) => {
    const call = begin().opens();
    const mumbles = (): void => {
      call.callerBegins().later(2_000).callerStops().silenceEndsTheTurn().skips().sttFinalizes();
    };
    for (let turn = 0; turn < 2; turn += 1) {
      mumbles();
      call.botSays('Sorry, say that again.').botFinishes();
    }
    mumbles();
    call.orders().callerSays('Hello.').llmAnswers('Hi.').botFinishes();
    mumbles();
    call.botSays('Sorry, say that again.');
  }),

  dialogue('a short noise without words is passed over', (begin) => {
    const call = begin()
      .opens()
      .callerBegins()
      .callerStops()
      .silenceEndsTheTurn()
      .skips()
      .sttFinalizes()
      .orders();
    call.later(10_000).botSays('Are you still there?');
  }),

  dialogue('an interruption without words is apologised for', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(300);
    call.callerBegins().callerInsists().callerStops().silenceEndsTheTurn().sttFinalizes();
    call.botSays('Sorry, say that again.').rounds(1);
  }),
];
