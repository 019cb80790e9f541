/** Nobody waits in silence: fillers, and which stage is given up when. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';

export const silence: readonly Dialogue[] = [
  dialogue(
    'fillers come in their order, and their time counts from when the caller began to wait',
    (begin) => {
      const call = begin()
        .opens()
        .callerBegins()
        .sttGuesses('Hm?')
        .callerStops()
        .silenceEndsTheTurn()
        .later(700);
      call.sttFinalizes().later(799).botSays('').later(1).botSays('One moment. ').botPlays(Infinity);
      call.llmAnswers('Ten.').botSays('One moment. Ten.').botFinishes().callerSays('And now?').later(1_500);
      call.botSays('Let me see. ').botPlays(Infinity).llmAnswers('Eleven.').botFinishes().callerSays('And?');
      call.later(1_500).botSays('One moment. ');
    },
  ),

  dialogue('a filler that was heard is in the context, one that was not is not said again', (begin) => {
    const call = begin().opens().callerSays('Hm?').later(1_500).ttsFails();
    call.botSays('Let me see. ').botPlays(Infinity).llmAnswers('Ten.').botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: Let me see. Ten.', 'user: Thanks.');
  }),

  dialogue('a caller may interrupt a filler, and the question is still answered', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Hm?')
      .later(1_500)
      .botPlays(Infinity)
      .callerBegins()
      .callerInsists();
    call.sttHears('Hello?').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Hm?', 'assistant: One moment.', 'user: Hello?');
  }),

  dialogue(
    'without fillers nothing is heard until the LLM is late, and then what the engine brings',
    (begin) => {
      const call = begin({ settings: { fillers: [] } })
        .opens()
        .callerSays('Hm?')
        .skips();
      call.later(1_999).orders().later(1).botSays('Bear with me. ').botPlays(Infinity).skips();
      call.later(2_399).orders().later(1).botSays('Bear with me. Still at it. ').botPlays(Infinity);
      call.llmAnswers('It is ten.').botSays('Bear with me. Still at it. It is ten.');
    },
  ),

  dialogue('an LLM that is mute is apologised for where a third filler would be due', (begin) => {
    const call = begin({ settings: { limits: { ...scriptSettings.limits, llmSilentMs: 9_000 } } });
    call.opens().callerSays('Hm?').later(1_500).botSays('One moment. ').botPlays(Infinity);
    call.later(2_400).botSays('One moment. Let me see. ').botPlays(Infinity).skips().later(2_399).orders();
    call.later(1).ordered('fault llm stalled').ordered('tts.speak 1 "Sorry, say that again."');
  }),

  dialogue('without fillers an LLM that is given up is apologised for', (begin) => {
    const call = begin({ echoMs: 20, settings: { fillers: [] } })
      .opens()
      .callerSays('Hm?')
      .later(2_000);
    call.botPlays(Infinity).later(2_400);
    call
      .botPlays(Infinity)
      .skips()
      .later(2_400)
      .ordered('fault llm stalled')
      .ordered('llm.cancel')
      .ordered('tts.flush 1');
    call.ordered('tts.speak 1 "Sorry, say that again."').botFinishes().later(1_499).rounds(1);
  }),

  dialogue('with nothing to say for a silence nothing is said', (begin) => {
    const quiet = begin({ settings: { fillers: [], lateLines: [] } })
      .opens()
      .callerSays('Hm?')
      .skips();
    quiet.later(9_000).orders();
  }),

  dialogue('without fillers a TTS that is late is filled for', (begin) => {
    const call = begin({ settings: { fillers: [] } })
      .opens()
      .callerSays('Hm?')
      .llmAnswers('Here it is.');
    call.later(2_700).botSays('Bear with me. Here it is.');
  }),

  dialogue('an LLM that stalls behind its first sentence is filled for', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('It is ten. And ').botPlays(Infinity).skips();
    call.later(1_499).orders().later(1).orders('tts.speak 1 "One moment. "').botPlays(Infinity);
    call
      .llmAnswers('a half.')
      .botSays('It is ten. One moment. And a half.')
      .botFinishes()
      .callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: It is ten. One moment. And a half.', 'user: Thanks.');
  }),

  dialogue('a sentence that an LLM stops behind is spoken instead of a filler', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('It is ten.').skips();
    call.later(1_499).orders().later(1).orders('tts.speak 1 "It is ten."').botPlays(Infinity).skips();
    call.later(1_500).orders('tts.speak 1 " One moment. "').botPlays(Infinity);
    call.llmAnswers(' Bye.').botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: It is ten. One moment.  Bye.', 'user: Thanks.');
  }),

  dialogue('a number that an LLM stops in is not taken for a sentence', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('It is 3.').skips();
    call.later(1_500).orders('tts.speak 1 "One moment. "').botPlays(Infinity);
    call.llmAnswers('5.').botSays('One moment. It is 3.5.');
  }),

  dialogue('while there is sound nothing is filled, however slow the LLM', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('This is a sentence of some length. ').skips();
    call
      .botPlays(30 * msPerChar)
      .without('tts.cancel')
      .botSays('This is a sentence of some length. ');
  }),

  dialogue('an empty completion leads to the apology, once', (begin) => {
    const call = begin().opens().callerSays('Hm?').skips().llmAnswers('');
    call.orders('fault llm empty', 'tts.speak 1 "Sorry, say that again."', 'tts.flush 1');
    call.botFinishes().later(5_000).rounds(1);
  }),

  dialogue(
    'a TTS that falls silent in the middle is given up, and the rest comes behind a filler',
    (begin) => {
      const call = begin().opens().callerSays('Hm?').llmWrites('First part. ').botPlays(Infinity);
      call.llmAnswers('Second part.').skips().later(2_699).orders().later(1);
      call.orders('tts.cancel 1', 'tts.reopen', 'fault tts stalled', 'playout.finish 1').skips().drains();
      call.orders(
        'playout.open 2',
        'tts.speak 2 "One moment. "',
        'tts.speak 2 "Second part."',
        'tts.flush 2',
      );
      call.botFinishes().callerSays('Thanks.');
      call.llmIsAsked(
        'user: Hm?',
        'assistant: First part.',
        'assistant: One moment. Second part.',
        'user: Thanks.',
      );
    },
  ),

  dialogue('the end of a line that TTS does not say gets the time of a new session', (begin) => {
    const call = begin({ settings: { greeting: 'Hello there. How are you?' } })
      .opens()
      .botPlays(640)
      .ttsFails();
    call.drains().botSays(' How are you?').skips().later(2_700);
    call.ordered('fault tts stalled').botSays('One moment.  How are you?').skips().later(2_699).orders();
  }),

  dialogue('two sessions of TTS that say nothing do not take twice as long', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.').later(1_400).ttsFails().skips();
    call.later(599).orders().later(1).ordered('tts.speak 3 "One moment. "').ordered('fault tts stalled');
  }),

  dialogue('TTS has the time until the caller has waited for 2.7 s, but 0.9 s for a late text', (begin) => {
    const call = begin().opens().callerSays('Hm?').later(1_100).llmAnswers('Here it is.').skips();
    call.later(899).orders().later(1).ordered('fault tts stalled');
  }),

  dialogue('the later the text, the less time has TTS: nobody waits for 3 s', (begin) => {
    const late = begin().opens().callerSays('Hm?').later(1_400).llmAnswers('Here it is.').skips();
    late.later(749).orders().later(1).ordered('fault tts stalled');
    const turn = { ...scriptSettings.turn, silenceEndMs: 1_000 };
    const later = begin({ settings: { turn } }).opens().callerSays('Hm?').later(1_400);
    later.llmAnswers('Here it is.').skips().later(499).orders().later(1).ordered('fault tts stalled');
  }),

  dialogue('a TTS that reports nothing owes what it was given after it ran dry', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmWrites('A slow but steady sentence. ').skips();
    const { context } = call;
    call.tell({ type: 'playout.started', context, audioAt: 0 }).later(4_000);
    call.tell({ type: 'playout.starved', context, sentMs: 4_000 }).skips().later(1_500);
    call.orders('tts.speak 1 "One moment. "').later(1_199).orders().later(1).ordered('fault tts stalled');
  }),

  dialogue('time in which a caller holds the output is no silence of the bot', (begin) => {
    const interrupt = { ...scriptSettings.interrupt, minWords: 1 };
    const call = begin({ settings: { interrupt } })
      .opens()
      .callerSays('Hm?')
      .later(1_000)
      .callerBegins()
      .skips();
    call.later(900).orders().callerStops().sttFinalizes().skips().later(1_499).orders();
    call.later(1).orders('tts.speak 1 "One moment. "');
  }),

  dialogue('a noise into a filler does not lose the question that the LLM thinks about', (begin) => {
    const call = begin().opens().callerSays('Hm?').later(1_500).botSays('One moment. ').botPlays(550);
    call.callerBegins().callerInsists().ordered('llm.cancel').callerStops().silenceEndsTheTurn();
    call.sttFinalizes().rounds(2).llmIsAsked('user: Hm?', 'assistant: One moment.');
  }),

  dialogue('a filler does not prove that TTS is alive', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Hm?')
      .llmAnswers('Here it is.')
      .later(2_700)
      .botSays('One moment. Here it is.');
    const { context } = call;
    call.tell({ type: 'tts.spoken', context, chars: 12, audioMs: 600 });
    call.tell({ type: 'playout.started', context, audioAt: 0 }).later(600);
    call.tell({ type: 'playout.starved', context, sentMs: 600 }).later(2_700).ordered('playout.finish 2');
    call.tell({ type: 'playout.drained', context, sentMs: 600 }).botSays('Let me see. Here it is.');
    // Failures that are as old as this have been in a row since before the filler.
    call.later(2_700).later(2_700).botSays('Something is not working. ').later(60_000).ends('ended');
  }),
];
