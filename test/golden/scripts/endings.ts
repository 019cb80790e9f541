/** How a call ends: by the LLM, by time, by the service, by the caller. */
import assert from 'node:assert/strict';
import { newToolBook } from '../../support/core/tool-book.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { end, say } from '../../support/core/given.ts';
import type { Script } from '../../support/core/script.ts';

type Begin = Parameters<Dialogue['play']>[0];

/** A call in every phase that a hang-up can meet. */
const phases: Readonly<Record<string, (begin: Begin) => Script>> = {
  'an open call': (begin) => begin().opens(),
  'a greeting': (begin) => begin({ settings: { greeting: 'Hello there.' } }).opens(),
  'a speaking caller': (begin) => begin().opens().callerBegins(),
  'a pause': (begin) => begin().opens().callerBegins().callerStops(),
  finalizing: (begin) => begin().opens().callerBegins().callerStops().silenceEndsTheTurn(),
  thinking: (begin) => begin().opens().callerSays('Hm?'),
  playing: (begin) => begin().opens().callerSays('Hm?').llmWrites('Some words here. ').botPlays(200),
  draining: (begin) => begin().opens().callerSays('Hm?').llmAnswers('Words.').botPlays(Infinity).drains(),
  'a candidate': (begin) =>
    begin().opens().callerSays('Hm?').llmAnswers('Words.').botPlays(100).callerBegins(),
  'a candidate that fades': (begin) =>
    begin().opens().callerSays('Hm?').llmAnswers('Words.').botPlays(100).callerBegins().callerStops(),
  'an entry of keys': (begin) => begin().opens().presses('12'),
  'a TTS that failed': (begin) =>
    begin().opens().callerSays('Hm?').llmWrites('Words. ').botPlays(100).ttsFails(),
};

const stopping = (withinMs: number) => ({ type: 'call.shutdown', withinMs }) as const;

function everythingHappens(call: Script): void {
  call.callerBegins().callerInsists().sttHears('Hello?').callerStops().later(2_500).sttFinalizes();
  call.llmAnswers('Too late.').presses('1#').ttsFails().tell({ type: 'stt.failed' }).llmFails();
  call.tell({ type: 'call.opened' }).tell({ type: 'call.shutdown' }).tell({ type: 'deadline.reached' });
  call.later(1_000_000).orders().waitsForNothing();
}

export const endings: readonly Dialogue[] = [
  dialogue('end_call hangs up after the words that came with it', (begin) => {
    const call = begin().opens().callerSays('Bye.').llmWrites('See you soon.').llmCalls('end_call');
    call.botSays('See you soon.').botPlays(Infinity).drains().ends(undefined).later(500).ends('ended');
  }),

  dialogue('end_call without words speaks the farewell', (begin) => {
    const call = begin().opens().callerSays('Bye.').llmCalls('end_call').botSays('Goodbye.');
    call.botFinishes().ends('ended', 'agent');
  }),

  dialogue('tools that were not offered are answered so and do not hang up', (begin) => {
    const call = begin({ settings: { tools: newToolBook({ endCall: false }) } })
      .opens()
      .callerSays('Hm.');
    call.llmWrites('Well.').llmCalls('weather', 'end_call').rounds(2);
    call.llmWrites('I cannot do that.').llmIsDone().botSays('Well. I cannot do that.').botFinishes();
    call.ends(undefined);
  }),

  dialogue('a farewell for the end of the time is spoken to its end', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .later(5_000)
      .botPlays(100)
      .skips();
    call.callerBegins().callerInsists().presses('1').orders().botFinishes().ends('ended', 'time_limit');
  }),

  dialogue('after its time a call says goodbye when nobody speaks', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .later(5_000)
      .botSays('Goodbye.');
    call.botFinishes().ends('ended', 'time_limit');
  }),

  dialogue('after its time a call finishes the answer first', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .later(3_000)
      .callerSays('Hm?')
      .later(1_000);
    call.llmAnswers('One last answer.').botSays('One last answer.').botFinishes().botSays('Goodbye.');
    call.botFinishes().ends('ended', 'time_limit');
  }),

  dialogue('after its time a call lets the caller finish and says goodbye instead of an answer', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .later(4_000)
      .callerBegins()
      .later(2_000);
    call.sttHears('And another thing.').callerStops().silenceEndsTheTurn().sttFinalizes().rounds(0);
    call.botSays('Goodbye.').botFinishes().ends('ended');
  }),

  dialogue('a caller who never stops is cut off half a minute later', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .later(4_000)
      .callerBegins();
    call.later(30_899).ends(undefined).later(1).ends('ended', 'time_limit').waitsForNothing();
  }),

  dialogue('a farewell waits for a caller who is just beginning to speak', (begin) => {
    const call = begin({ settings: { maxCallMs: 5_000 } })
      .opens()
      .later(3_000)
      .callerSays('Hm?')
      .later(700);
    call.llmAnswers('Yes.').botPlays(Infinity).drains().later(350).callerBegins().skips();
    call.later(100).without('tts.speak').callerInsists().sttHears('Wait.').callerStops().silenceEndsTheTurn();
    call.sttFinalizes().botSays('Goodbye.').botFinishes().ends('ended', 'time_limit');
  }),

  dialogue('when the service stops the call ends at once', (begin) => {
    for (const [phase, reach] of Object.entries(phases)) {
      const call = reach(begin).skips().tell({ type: 'call.shutdown' });
      assert.doesNotThrow(() => call.orders('call.end shutdown').waitsForNothing(), phase);
      everythingHappens(call);
    }
  }),

  dialogue('a service that stops takes leave where there is time', (begin) => {
    const call = begin().opens().skips().tell(stopping(5_000)).botSays('Goodbye.').rounds(0);
    call.botFinishes().ends('shutdown').waitsForNothing();
    const none = begin({ settings: { farewell: '' } })
      .opens()
      .skips()
      .tell(stopping(5_000));
    none.orders('call.end shutdown');
    const short = begin().opens().skips().tell(stopping(500));
    short.orders('call.end shutdown');
    const twice = begin().opens().tell(stopping(5_000)).skips().tell({ type: 'call.shutdown' });
    twice.orders('call.end shutdown');
  }),

  dialogue(
    'a service that stops lets the answer and the caller finish, as long as there is time',
    (begin) => {
      const answer = begin()
        .opens()
        .callerSays('Hm?')
        .llmAnswers('At ten.')
        .botPlays(100)
        .tell(stopping(5_000));
      answer.botFinishes().botSays('Goodbye.').botFinishes().ends('shutdown');
      const speaking = begin().opens().callerBegins().callerInsists().tell(stopping(5_000)).skips();
      speaking.later(1_000).without('tts.speak').sttHears('A table.').callerStops().silenceEndsTheTurn();
      speaking.sttFinalizes().rounds(0).botSays('Goodbye.').botFinishes().ends('shutdown');
      const lines = begin().opens().callerBegins().tell(say('One.')).tell(stopping(9_000)).callerStops();
      lines.silenceEndsTheTurn().sttFinalizes().botSays('One.').botFinishes().botSays('Goodbye.');
      lines.botFinishes().ends('shutdown');
    },
  ),

  dialogue('a service that stops has the last word before its time is over', (begin) => {
    const long = 'A very long answer that nobody will hear to its end because the service stops. ';
    const answer = begin()
      .opens()
      .callerSays('Hm?')
      .llmWrites(long)
      .botPlays(100)
      .tell(stopping(4_000))
      .skips();
    answer.botPlays(2_700).botPlays(300).ordered('llm.cancel').botSays('Goodbye.').ends(undefined);
    answer.botFinishes().ends('shutdown');
    const talker = begin().opens().callerBegins().callerInsists().tell(stopping(5_000)).skips();
    talker.later(3_600).without('tts.speak').later(200).botSays('Goodbye.');
    talker.later(1_199).ends(undefined).later(1).ends('shutdown');
  }),

  dialogue('a farewell that runs when the service stops is not said twice, nor cut', (begin) => {
    const call = begin().opens().callerSays('Bye.').llmWrites('So long.').llmCalls('end_call').botPlays(100);
    call.tell(stopping(3_000)).botFinishes().ends('shutdown');
    const closing = begin().opens().tell(end('So long.', 'a')).botPlays(100).tell(stopping(3_000));
    closing.botFinishes().ordered('a done').ends('shutdown');
    const waiting = begin().opens().callerBegins().tell(end('So long.', 'a')).tell(stopping(5_000));
    waiting
      .callerStops()
      .silenceEndsTheTurn()
      .sttFinalizes()
      .botSays('So long.')
      .botFinishes()
      .ends('shutdown');
    const late = begin().opens().callerBegins().tell(stopping(5_000)).later(2_850).callerStops();
    late
      .silenceEndsTheTurn()
      .sttFinalizes()
      .botSays('Goodbye.')
      .skips()
      .botPlays(300)
      .without('playout.clear');
    late.botFinishes().ends('shutdown');
    const lost = begin().opens().callerBegins().tell(stopping(5_000)).workerIsLost().later(4_000);
    lost.botSays('Goodbye.').botFinishes().ends('shutdown');
  }),

  dialogue('after a hang-up nothing is ordered any more', (begin) => {
    for (const reach of Object.values(phases)) {
      const call = reach(begin).skips().tell({ type: 'call.closed' });
      call.orders().waitsForNothing();
      everythingHappens(call);
    }
  }),
];
