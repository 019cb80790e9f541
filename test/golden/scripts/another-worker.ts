/** The call goes on in another worker: what was heard is not said again, and what was being heard is heard again. */
import assert from 'node:assert/strict';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import type { Script } from '../../support/core/script.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';

/** Another worker takes the call over; `sentMs` of the running response were on the wire. */
const takenOver = (call: Script, { sentMs = 0, turnAudio = true, silentMs = 0 } = {}): Script => {
  const position = call.context === 0 ? undefined : { context: call.context, sentMs };
  return call.skips().tell({ type: 'call.resumed', position, turnAudio, silentMs });
};

/** A model speaks its words itself. */
const speaks = { modelSpeaks: true };

export const anotherWorker: readonly Dialogue[] = [
  dialogue(
    'what is on the wire as a whole is not said again, and the piece that broke off goes on at its sample',
    (begin) => {
      const call = begin().opens().callerSays('Go.').llmAnswers('First part. Second part here. Third one.');
      call.botPlays(20 * msPerChar);
      takenOver(call, { sentMs: 20 * msPerChar });
      call.orders(
        'playout.open 2',
        'tts.speak 2 "Second part here. "',
        'tts.speak 2 "Third one."',
        'tts.flush 2',
      );
    },
  ),

  dialogue('an answer of which nothing was heard is spoken from its beginning', (begin) => {
    const call = takenOver(begin().opens().callerSays('Go.').llmAnswers('Here it is.'));
    call.orders('playout.open 2', 'tts.speak 2 "Here it is."', 'tts.flush 2');
  }),

  dialogue(
    'an LLM that was still writing is asked the same, and what it repeats is not said again',
    (begin) => {
      const call = begin().opens().callerSays('Go.').llmWrites('First part. And').botPlays(Infinity);
      takenOver(call, { sentMs: 12 * msPerChar })
        .orders('playout.open 2', 'llm.start 1')
        .llmIsAsked('user: Go.');
      call
        .llmWrites('First part. ')
        .llmWrites('And then')
        .orders()
        .llmIsDone()
        .orders('tts.speak 2 "And then"', 'tts.flush 2');
    },
  ),

  dialogue('an LLM that writes something else is told to go on where it stopped', (begin) => {
    const call = begin().opens().callerSays('Go.').llmWrites('First part. And').botPlays(Infinity);
    takenOver(call, { sentMs: 12 * msPerChar })
      .skips()
      .llmWrites('Well, ')
      .orders('llm.cancel', 'llm.start 1');
    call.llmIsAsked('user: Go.', 'assistant: First part. And');
    assert.equal(call.request.at(-1)?.role, 'system');
    call.skips().llmAnswers('then some.').orders('tts.speak 2 "And then some."', 'tts.flush 2');
  }),

  dialogue(
    'of what a model spoke, the words on the wire are over, and another voice says the rest',
    (begin) => {
      const call = begin({ settings: speaks }).opens().callerSays('Go.');
      call
        .llmWrites('Alpha beta ')
        .llmWrites('gamma delta ')
        .llmAnswers('epsilon zeta.')
        .botPlays(14 * msPerChar);
      takenOver(call, { sentMs: 14 * msPerChar }).orders(
        'playout.open 2',
        'tts.speak 2 "gamma delta epsilon zeta."',
        'tts.flush 2',
      );
    },
  ),

  dialogue('a model that was still speaking goes on from what it has said', (begin) => {
    const call = begin({ settings: speaks })
      .opens()
      .callerSays('Go.')
      .llmWrites('Alpha beta')
      .botPlays(Infinity);
    takenOver(call, { sentMs: 7 * msPerChar }).orders('playout.open 2', 'tts.speak 2 "beta"', 'llm.start 1');
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta');
    assert.equal(call.request.at(-1)?.role, 'system');
    call.llmAnswers('gamma.').orders('tts.speak 2 " gamma."', 'tts.flush 2');
  }),

  dialogue('a model that had said nothing yet is asked the same', (begin) => {
    const call = takenOver(begin({ settings: speaks }).opens().callerSays('Go.'));
    call.orders('playout.open 2', 'llm.start 1').llmIsAsked('user: Go.');
  }),

  dialogue('a turn is heard again from its beginning', (begin) => {
    const call = takenOver(begin().opens().callerBegins().sttHears('A table').sttGuesses('for'));
    call.orders('stt.listen', 'stt.replay').callerBegins().sttHears('A table for two.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().llmIsAsked('user: A table for two.');
  }),

  dialogue('STT is not asked for half a word before the new detector can know the voice', (begin) => {
    const turn = { ...scriptSettings.turn, askEarlyMs: 300 };
    const call = takenOver(begin({ settings: { turn } }).opens().callerBegins()).skips();
    call.later(1_499).orders().later(1).orders('stt.finalize');
  }),

  dialogue(
    'who fell silent meanwhile has ended the turn once it is known that no voice came after',
    (begin) => {
      const call = takenOver(begin().opens().callerBegins(), { silentMs: 1_000 }).skips();
      call.later(300).orders().tell({ type: 'voice.caught_up' }).orders('stt.finalize');
    },
  ),

  dialogue('a pause that had begun before goes on, whatever came late', (begin) => {
    const call = begin().opens().callerBegins().callerStops().later(300);
    takenOver(call.later(150)).skips();
    call.later(20).tell({ type: 'voice.caught_up' }).orders().later(30).orders('stt.finalize');
  }),

  dialogue(
    'a voice that ended in late audio has been silent since then, once all of it is judged',
    (begin) => {
      const call = begin().opens().callerBegins().skips();
      call.tell({ type: 'speech.stopped', unjudgedMs: 640 }).later(50).orders();
      call.tell({ type: 'voice.caught_up' }).orders('stt.finalize');
    },
  ),

  dialogue('a voice that goes on in late audio is waited for', (begin) => {
    const call = begin().opens().callerBegins().skips();
    call.tell({ type: 'speech.stopped', unjudgedMs: 1_500 }).later(20).tell({ type: 'speech.started' });
    call.later(20).tell({ type: 'voice.caught_up' }).later(1_000).orders('stt.listen');
  }),

  dialogue('what was known of it counts when the new session says nothing', (begin) => {
    const call = takenOver(begin().opens().callerBegins().sttHears('A table').sttGuesses('for two'));
    call.silenceEndsTheTurn().sttFinalizes().llmIsAsked('user: A table for two');
  }),

  dialogue(
    'of a turn that is longer than the audio kept of it, the beginning stays as it was heard',
    (begin) => {
      const call = begin().opens().callerBegins().later(3_000).sttHears('First of all');
      for (let second = 0; second < 20; second += 1) call.later(1_000).sttGuesses(`and ${second}`);
      takenOver(call.sttHears('and then')).sttHears('and then this.').silenceEndsTheTurn().sttFinalizes();
      call.llmIsAsked('user: First of all and then this.');
    },
  ),

  dialogue('without its audio, what was known is all there is', (begin) => {
    const call = takenOver(begin().opens().callerBegins().sttHears('A table').sttGuesses('for'), {
      turnAudio: false,
    });
    call
      .orders('stt.listen')
      .sttHears('two.')
      .silenceEndsTheTurn()
      .sttFinalizes()
      .llmIsAsked('user: A table for two.');
  }),

  dialogue('a text that STT owed is asked for once more', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').callerStops().silenceEndsTheTurn();
    takenOver(call).orders('stt.listen', 'stt.replay', 'stt.finalize').sttHears('A table.').sttFinalizes();
    call.llmIsAsked('user: A table.');
  }),

  dialogue(
    'an answer that nobody has seen yet is asked for anew when the turn is over, and counts as one in vain',
    (begin) => {
      const turn = {
        minSpeechMs: 100,
        stopMs: 200,
        askEarlyMs: Infinity,
        silenceEndMs: 700,
        maxSilenceMs: 2_500,
        model: false,
        completeAt: 0.5,
      };
      const call = begin({ settings: { turn: { ...turn, speculate: true } } })
        .opens()
        .callerBegins()
        .sttHears('One');
      takenOver(call.callerStops().rounds(1))
        .sttHears('One')
        .rounds(2)
        .sttHears('two')
        .sttHears('three')
        .rounds(2);
    },
  ),

  dialogue('a candidate still holds the output, and goes on as one', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Go.')
      .llmAnswers('A long enough answer.')
      .botPlays(300)
      .callerBegins();
    takenOver(call, { sentMs: 300 }).isHeld().later(600).botPlays(100);
  }),

  dialogue('nobody waits in silence for another worker', (begin) => {
    const call = takenOver(begin().opens().callerSays('Go.').later(1_400)).skips();
    call.later(1_099).orders().later(1).orders('tts.speak 2 "One moment. "');
  }),

  dialogue(
    'of an answer that was sent as a whole, what was heard is kept when the caller cuts its end',
    (begin) => {
      const call = begin({ echoMs: 400 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
      call.callerSays('Go.').llmAnswers('Alpha beta gamma delta.').botPlays(Infinity).drains().callerBegins();
      call.tell({ type: 'call.resumed', position: undefined, turnAudio: false }).callerBegins().later(150);
      call
        .tell({ type: 'speech.confirmed', position: { context: 0, sentMs: 0 } })
        .sttFinalizes()
        .sttHears('Stop.');
      call.callerStops().silenceEndsTheTurn().sttFinalizes();
      call.llmIsAsked(
        'user: Hm.',
        'assistant: Yes.',
        'user: Go.',
        'assistant: Alpha beta gamma',
        'user: Stop.',
      );
    },
  ),

  dialogue('an epoch that the other worker may have begun is not given twice', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(600);
    takenOver(call, { sentMs: 600 }).presses('1').ordered('playout.clear 3');
  }),

  dialogue('nor are those of several workers that died one after the other', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(600);
    takenOver(takenOver(call, { sentMs: 600 }), { sentMs: 600 })
      .presses('1')
      .ordered('playout.clear 4');
  }),

  dialogue('the time between two keys stands still while nobody reads them', (begin) => {
    const call = begin().opens().presses('4').later(2_000);
    takenOver(call, { silentMs: 2_500 }).later(3_400).presses('2').presses('#');
    call.llmIsAsked('user: [The caller pressed the keys: 42]');
  }),
];
