/** Stages that fail, stall or return nothing. */
import { scriptSettings } from '../../support/core/script-settings.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import type { Script } from '../../support/core/script.ts';

export const failures: readonly Dialogue[] = [
  dialogue('an LLM that fails without a word leads to the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').skips().llmFails();
    call.orders('fault llm failed', 'tts.speak 1 "Sorry, say that again."', 'tts.flush 1');
  }),

  dialogue(
    'an LLM that fails in the middle is spoken as far as it made sentences, and apologised for',
    (begin) => {
      const call = begin().opens().callerSays('Hm?').llmWrites('The first half. And the').skips().llmFails();
      call
        .orders('fault llm failed', 'tts.speak 1 "Sorry, say that again."', 'tts.flush 1')
        .botFinishes()
        .callerSays('Go on.');
      call.llmIsAsked('user: Hm?', 'assistant: The first half. Sorry, say that again.', 'user: Go on.');
    },
  ),

  dialogue('a sentence that was whole when the LLM failed is spoken', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('The first half. The other').llmWrites(' half.');
    call.llmFails().botSays('The first half. The other half. Sorry, say that again.').botFinishes();
    call.ends(undefined);
  }),

  dialogue('half a sentence at the limit of the LLM is left out behind whole ones', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('The first half. And the').llmEnds('length', []);
    call.botSays('The first half. ').botFinishes().callerSays('Go on.');
    call.llmIsAsked('user: Hm?', 'assistant: The first half.', 'user: Go on.');
    const alone = begin().opens().callerSays('Hm?').later(1_500).botSays('One moment. ');
    alone.llmWrites('And the').llmEnds('length', []).botSays('One moment. And the');
  }),

  dialogue('an answer that was stopped in the middle of a sentence is apologised for', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('The first half. And the');
    call.llmEnds('content_filter', []).botSays('The first half. Sorry, say that again.');
    const whole = begin()
      .opens()
      .callerSays('Hm?')
      .llmWrites('That I cannot say.')
      .llmEnds('content_filter', []);
    whole.botSays('That I cannot say.');
  }),

  dialogue('an empty answer leads to the apology', (begin) => {
    begin().opens().callerSays('Hm?').llmAnswers(' \n').botSays(' \nSorry, say that again.'.trim());
  }),

  dialogue('an LLM that stalls is filled for, and given up with the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').skips().later(1_499).orders();
    call.later(1).orders('tts.speak 1 "One moment. "').botPlays(Infinity);
    call.later(2_399).botSays('One moment. ').later(1).botSays('One moment. Let me see. ').botPlays(Infinity);
    call.later(2_400).botSays('One moment. Let me see. One moment. ').botPlays(Infinity);
    call.botPlays(Infinity).skips().later(1_899).orders();
    call.later(1).ordered('llm.cancel').ordered('fault llm stalled').ordered('tts.flush 1');
    call.ordered('tts.speak 1 "Sorry, say that again."');
    call.skips().llmWrites('Too late. ').orders();
  }),

  dialogue('words of an LLM that stalled before its first piece are not glued to the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('Well, I');
    call.later(1_500).botPlays(Infinity);
    for (let fillers = 0; fillers < 2; fillers += 1) call.later(2_400).botPlays(Infinity);
    call.skips().later(1_900).ordered('tts.speak 1 "Sorry, say that again."');
  }),

  dialogue('an LLM that fails three times in a row ends the call where callers are not kept', (begin) => {
    const call = begin({ settings: { outage: { ...scriptSettings.outage, keepMs: 0 } } }).opens();
    for (const text of ['One.', 'Two.']) call.callerSays(text).llmFails().botFinishes().ends(undefined);
    call.callerSays('Three.').llmFails().botSays('Sorry, say that again.').botFinishes();
    call.botSays('Goodbye.').botFinishes().ends('ended', 'providers');
  }),

  dialogue('an LLM that has nothing to say three times in a row ends the call as well', (begin) => {
    const call = begin({ settings: { outage: { ...scriptSettings.outage, keepMs: 0 } } }).opens();
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

  dialogue(
    'TTS that has failed again and again for ten seconds says goodbye, by the announcement when it cannot even do that',
    (begin) => {
      const failing = (): Script => {
        const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.');
        for (let second = 0; second < 10; second += 1) call.ttsFails().later(1_000).ends(undefined);
        return call.skips();
      };
      const call = failing();
      call.ttsFails().ordered('fault tts failed').botSays('Goodbye.').ends(undefined);
      call.ttsFails().botSays('Something is not working. ').ends(undefined);
      call.botFinishes().ends('ended').waitsForNothing();
      failing().ttsFails().botSays('Goodbye.').botFinishes().ends('ended');
    },
  ),

  dialogue('TTS that is down for two seconds says what it has to say when it is back', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.');
    for (let quarter = 0; quarter < 8; quarter += 1) call.ttsFails().later(250);
    call.botSays('Let me see. Here it is.').botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: Let me see. Here it is.', 'user: Thanks.');
  }),

  dialogue('STT that is down for two seconds hears the caller when it is back', (begin) => {
    const call = begin().opens().callerBegins();
    for (let quarter = 0; quarter < 8; quarter += 1) call.tell({ type: 'stt.failed' }).later(250);
    call.sttHears('A table for two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: A table for two.').llmAnswers('Certainly.').botFinishes().ends(undefined);
  }),

  dialogue('STT that has failed again and again for ten seconds is left with a goodbye', (begin) => {
    const call = begin().opens();
    for (let second = 0; second < 10; second += 1) call.tell({ type: 'stt.failed' }).later(1_000);
    call.tell({ type: 'stt.failed' }).botSays('Are you still there?').botFinishes();
    call.botSays('Goodbye.').botFinishes().ends('ended');
  }),

  dialogue('TTS that stalls before any audio is given up, and a filler comes before the answer', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').skips().later(1_999).orders();
    call
      .later(1)
      .orders(
        'tts.cancel 1',
        'tts.reopen',
        'fault tts stalled',
        'playout.clear 1 unheard',
        'playout.open 2',
        'tts.speak 2 "One moment. "',
        'tts.speak 2 "Here it is."',
        'tts.flush 2',
      );
    call.botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: One moment. Here it is.', 'user: Thanks.');
  }),

  dialogue('TTS that stalls for ever is left with a goodbye', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').later(2_000).later(2_700);
    call.botSays('Let me see. Here it is.').later(2_700).later(2_700).ends(undefined);
    call.later(2_700).botSays('Let me see. ').later(60_000).ends('ended');
  }),

  dialogue(
    'who waits while the LLM is down is told so again, and gets the answer when it is back',
    (begin) => {
      const outage = { ...scriptSettings.outage, keepMs: 60_000 };
      const call = begin({ echoMs: 20, settings: { outage } }).opens();
      call
        .callerSays('Hm?')
        .llmFails()
        .botSays('Sorry, say that again.')
        .botFinishes()
        .later(1_499)
        .rounds(1);
      call.later(1).rounds(2);
      call.llmIsAsked('user: Hm?', 'assistant: Sorry, say that again.', 'user: [unheard]');
      call.llmFails().botSays('Still trouble.').botFinishes().later(1_500).skips().llmAnswers('It is ten.');
      call.botSays('I am back. It is ten.').botFinishes().later(9_000).rounds(3).ends(undefined);
    },
  ),

  dialogue('the silence before an answer that is tried again counts when TTS is silent as well', (begin) => {
    const call = begin({ echoMs: 20 }).opens().callerSays('Hm?').llmFails().botFinishes().later(1_500);
    call.llmAnswers('It is ten.').skips().later(1_199).orders().later(1).ordered('fault tts stalled');
    call.botSays('One moment. I am back. It is ten.');
    const slow = begin({ echoMs: 20 }).opens().callerSays('Hm?').llmFails().botFinishes().later(1_500);
    slow.later(500).botSays('One moment. ').later(1_199).skips().later(1).ordered('fault tts stalled');
  }),

  dialogue('who tells nothing of what was played waits no longer for the next attempt', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmFails().botPlays(Infinity).drains();
    call.later(1_499).rounds(1).later(1).rounds(2).llmAnswers('It is ten.').skips();
    call.later(1_199).orders().later(1).ordered('fault tts stalled');
  }),

  dialogue('an answer that is tried again is late where LLM and TTS are', (begin) => {
    const call = begin({ echoMs: 20 }).opens().callerSays('Hm?').llmFails().botFinishes().later(1_500);
    call
      .later(450)
      .llmAnswers('It is ten.')
      .skips()
      .later(749)
      .orders()
      .later(1)
      .ordered('fault tts stalled');
  }),

  dialogue('an answer is not tried again once the caller has spoken', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmFails().botFinishes().callerSays('Well?');
    call.rounds(2).llmAnswers('Ten.').botSays('Ten.').botFinishes().later(9_000).rounds(2);
  }),

  dialogue('half an answer is not tried again: the caller was asked to speak', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('It is ten. And ').llmFails().botFinishes();
    call.later(9_000).rounds(1);
  }),

  dialogue('an outage that lasts longer than callers are kept ends with the farewell', (begin) => {
    const outage = { ...scriptSettings.outage, keepMs: 4_600 };
    const call = begin({ echoMs: 20, settings: { outage } }).opens().callerSays('Hm?');
    call
      .llmFails()
      .botFinishes()
      .ends(undefined)
      .later(1_500)
      .llmFails()
      .botSays('Still trouble.')
      .botFinishes()
      .ends(undefined);
    call
      .later(1_500)
      .llmFails()
      .botSays('Still trouble.')
      .botFinishes()
      .botSays('Goodbye.')
      .botFinishes()
      .ends('ended');
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

  dialogue('TTS that makes no sound of an answer is a fault, and the caller hears the apology', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').skips();
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 });
    call.orders('fault tts empty', 'playout.open 2', 'tts.speak 2 "Sorry, say that again."', 'tts.flush 2');
    call.skips().tell({ type: 'playout.drained', context: 2, sentMs: 0 });
    call.orders(
      'fault tts empty',
      'playout.open 3',
      'announce 3 "Something is not working. "',
      'tts.flush 3',
    );
    call.botFinishes().later(10_000).botSays('Are you still there?');
  }),

  dialogue(
    'speech of which STT hears no word is told as its fault, and the caller is asked to say it again',
    (begin) => {
      const call = begin()
        .opens()
        .callerBegins()
        .callerInsists()
        .later(2_000)
        .callerStops()
        .silenceEndsTheTurn();
      call.sttFinalizes().ordered('fault stt empty').botSays('Sorry, what was that?');
      const noise = begin().opens().callerBegins().later(300).callerStops().silenceEndsTheTurn();
      noise.sttFinalizes().without('fault.noticed').without('tts.speak');
    },
  ),

  dialogue('an apology for a TTS that makes no sound is not said to who has just spoken', (begin) => {
    const interrupt = { ...scriptSettings.interrupt, minWords: 2 };
    const call = begin({ settings: { interrupt } }).opens().callerSays('Go.').llmAnswers('Short one.');
    call.callerBegins().callerStops().skips();
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).without('tts.speak');
    call.sttHears('And now.').silenceEndsTheTurn().sttFinalizes().sttFinalizes();
    call.llmIsAsked('user: Go.', 'user: And now.');
  }),

  dialogue('a farewell for a TTS that makes no sound waits until the caller has spoken', (begin) => {
    const limits = { ...scriptSettings.limits, stageFailures: 2 };
    const outage = { ...scriptSettings.outage, keepMs: 0 };
    const interrupt = { ...scriptSettings.interrupt, enabled: false };
    const call = begin({ settings: { limits, outage, interrupt } })
      .opens()
      .callerSays('Go.')
      .llmAnswers('Short one.');
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).botSays('Sorry, say that again.');
    call.callerBegins().skips().tell({ type: 'playout.drained', context: 2, sentMs: 0 });
    call.without('tts.speak').sttHears('Hello?').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.botSays('Goodbye.');
  }),

  dialogue('STT that fails is replaced, and hears the turn once more', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').skips();
    call.tell({ type: 'stt.failed' }).orders('fault stt failed', 'stt.reopen', 'stt.replay');
    call.sttHears('A table for two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: A table for two.');
  }),

  dialogue('what was known counts when the new session says nothing', (begin) => {
    const call = begin().opens().callerBegins().sttHears('A table').sttGuesses('for two');
    call.tell({ type: 'stt.failed' }).callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: A table for two');
  }),

  dialogue('a turn is heard again once: when that session fails too, what is known is kept', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').tell({ type: 'stt.failed' });
    call
      .sttGuesses('A table for')
      .skips()
      .tell({ type: 'stt.failed' })
      .orders('fault stt failed', 'stt.reopen');
    call.sttHears('two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: A table for two.');
  }),

  dialogue('what STT knew only the beginning of, when it failed for good, is asked for again', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('Cancel my order').tell({ type: 'stt.failed' });
    call.later(1_500).tell({ type: 'stt.failed' }).callerStops().silenceEndsTheTurn();
    call.tell({ type: 'stt.failed' }).rounds(0).botSays('Sorry, say that again.').botFinishes();
    call.callerSays('Cancel my order of yesterday.');
    call.llmIsAsked(
      'user: Cancel my order',
      'assistant: Sorry, say that again.',
      'user: Cancel my order of yesterday.',
    );
  }),

  dialogue('a short turn of which no session heard all is asked for again, each time', (begin) => {
    const call = begin().opens();
    for (let turns = 0; turns < 3; turns += 1) {
      call.callerBegins().callerInsists().tell({ type: 'stt.failed' }).tell({ type: 'stt.failed' });
      // What is left of the audio is answered, with nothing.
      call.callerStops().silenceEndsTheTurn().sttFinalizes().botSays('Sorry, say that again.').botFinishes();
    }
    call.callerBegins().callerInsists().callerStops().silenceEndsTheTurn().skips();
    call.sttFinalizes().without('tts.speak');
  }),

  dialogue('STT that fails while it finalizes is asked again in a new session', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').callerStops().silenceEndsTheTurn();
    call.skips().tell({ type: 'stt.failed' });
    call.orders('fault stt failed', 'stt.reopen', 'stt.replay', 'stt.finalize').rounds(0);
    call.sttHears('A table, please.').sttFinalizes().llmIsAsked('user: A table, please.');
  }),

  dialogue('STT that never answers is given up after its limit', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('Bir masa').callerStops().silenceEndsTheTurn();
    call.skips().later(2_049).rounds(0).later(1).ordered('fault stt given_up').ordered('stt.reopen');
    call.llmIsAsked('user: Bir masa');
  }),

  dialogue('a word that is as short as a noise is asked for again when STT does not answer', (begin) => {
    const call = begin().opens().callerBegins().callerStops().silenceEndsTheTurn().later(2_050);
    call.botSays('Sorry, say that again.').botFinishes();
    call.callerBegins().callerStops().silenceEndsTheTurn().sttFinalizes().skips().later(500).orders();
  }),

  dialogue('a text that STT did not finish in time is answered as it is, and counts against STT', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').callerStops().silenceEndsTheTurn();
    call.tell({ type: 'stt.finalized', isLate: true }).ordered('fault stt given_up');
    call.llmIsAsked('user: A table').llmAnswers('Fine.').botFinishes().skips();
    call.callerBegins().callerStops().silenceEndsTheTurn().tell({ type: 'stt.finalized', isLate: true });
    call.botSays('Sorry, say that again.');
  }),

  dialogue('an STT that went silent in the middle of a turn is given it once more', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('A table').later(1_400).callerStops();
    call.silenceEndsTheTurn().later(300).skips().tell({ type: 'stt.finalized', isLate: true });
    call.orders('fault stt failed', 'stt.reopen', 'stt.replay', 'stt.finalize');
    call.sttHears('A table by the window.').sttFinalizes().llmIsAsked('user: A table by the window.');
    const mute = begin().opens().callerBegins().sttGuesses('A table').later(1_400).callerStops();
    mute.silenceEndsTheTurn().later(300).tell({ type: 'stt.finalized', isLate: true }).rounds(0);
    mute.later(1_750).rounds(0).botSays('Sorry, say that again.');
  }),

  dialogue('to have said everything of no audio is no proof that STT lives', (begin) => {
    const turn = { ...scriptSettings.turn, askEarlyMs: 300 };
    const call = begin({ settings: { turn } }).opens().callerBegins().callerStops().skips();
    call.silenceEndsTheTurn().ordered('stt.flush').ordered('stt.finalize');
    call.tell({ type: 'stt.finalized', isLate: true }).sttFinalizes().botSays('Sorry, say that again.');
  }),

  dialogue('STT that forgot one finalize hears the next turn', (begin) => {
    const call = begin().opens().callerBegins().sttGuesses('One.').callerStops().silenceEndsTheTurn();
    call.later(2_050).llmAnswers('Fine.').botFinishes().callerSays('Two.');
    call.llmIsAsked('user: One.', 'assistant: One moment. Fine.', 'user: Two.');
  }),

  dialogue('STT that guesses otherwise and says nothing of a long speech is replaced', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Yes.').botFinishes().callerBegins().skips();
    call.later(5_999).orders().later(1).orders('stt.reopen', 'stt.replay', 'fault stt stalled');
    call.sttGuesses('I was').later(1_000).orders();
  }),

  dialogue('STT that never guesses is not taken for deaf', (begin) => {
    begin().opens().callerBegins().skips().later(60_000).orders();
  }),

  dialogue('a long speech without words is asked for again, twice in a row at most', (begin) => {
    const call = begin().opens();
    const mumbles = (): void => {
      call.callerBegins().later(2_000).callerStops().silenceEndsTheTurn().skips().sttFinalizes();
    };
    for (let turn = 0; turn < 2; turn += 1) {
      mumbles();
      call.botSays('Sorry, what was that?').botFinishes();
    }
    mumbles();
    call.orders().callerSays('Hello.').llmAnswers('Hi.').botFinishes();
    mumbles();
    call.botSays('Sorry, what was that?');
  }),

  dialogue('a word or two that STT does not know are asked for again', (begin) => {
    const call = begin().opens().callerBegins().later(850).callerStops().silenceEndsTheTurn().sttFinalizes();
    call.botSays('Sorry, what was that?');
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

  dialogue('a short interruption without words was none: the rest of the answer is spoken', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(340);
    call.callerBegins().callerInsists().callerStops().silenceEndsTheTurn().sttFinalizes();
    call.botSays('enough answer.').rounds(1).botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Go.', 'assistant: A long', 'assistant: enough answer.', 'user: Thanks.');
  }),

  dialogue('a long interruption without words is asked for again', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(300);
    call.callerBegins().callerInsists().later(1_300).callerStops().sttFinalizes();
    call.silenceEndsTheTurn().sttFinalizes();
    call.botSays('Sorry, what was that?').rounds(1);
  }),

  dialogue('STT that forgets the end of a cough is replaced, and hears the next turn', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Go.')
      .llmAnswers('A long enough answer.')
      .botPlays(300)
      .callerBegins();
    call
      .callerStops()
      .skips()
      .later(400)
      .botFinishes()
      .later(4_100)
      .ordered('stt.reopen')
      .ordered('fault stt stalled');
    call.callerSays('Hm.').llmIsAsked('user: Go.', 'assistant: A long enough answer.', 'user: Hm.');
  }),

  dialogue('a turn that no session transcribes any more is answered with what is known, at once', (begin) => {
    const call = begin()
      .opens()
      .callerBegins()
      .sttGuesses('Bir masa')
      .tell({ type: 'stt.failed' })
      .sttGuesses('Bir masa');
    call.callerStops().silenceEndsTheTurn().callerBegins().callerStops().silenceEndsTheTurn();
    call.later(999).rounds(0).later(1).rounds(1).llmIsAsked('user: Bir masa');
  }),
];
