/** A TTS that has been down since the service started: nothing was made ahead of time, and the announcement is what is heard. */
import { scriptSettings } from '../../support/core/script-settings.ts';
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import type { Script } from '../../support/core/script.ts';
import { say } from '../../support/core/given.ts';

const announcement = 'Something is not working. ';

/** TTS refuses whatever it is asked, after as long as a session waits before it is opened again, for this long. */
function refuses(call: Script, forMs: number): Script {
  for (let passedMs = 0; passedMs < forMs; passedMs += 250) call.ttsFails().later(250);
  return call;
}

export const lastResort: readonly Dialogue[] = [
  dialogue(
    'a TTS that refuses everything is stood in for by the announcement, in front of the answer',
    (begin) => {
      const call = begin({ linesReady: false }).opens().callerSays('Hm?').llmAnswers('Here it is.');
      refuses(call, 1_500).skips().ttsFails();
      call.orders(
        'tts.reopen',
        'fault tts failed',
        'playout.clear 1 unheard',
        'playout.open 8',
        `announce 8 "${announcement}"`,
        'tts.speak 8 "Here it is."',
        'tts.flush 8',
      );
      call.botFinishes().callerSays('Thanks.');
      call.llmIsAsked('user: Hm?', 'assistant: Something is not working. Here it is.', 'user: Thanks.');
    },
  ),

  dialogue('a TTS that stays down keeps the answer for later, and the caller may speak', (begin) => {
    const outage = { ...scriptSettings.outage, keepMs: 60_000 };
    const call = begin({ linesReady: false, settings: { outage } }).opens().callerSays('Hm?');
    refuses(call.llmWrites('Here it is. '), 2_000).botSays(`${announcement}Here it is. `).botPlays(1_400);
    call.ttsFails().drains().ends(undefined).skips().later(1_500).rounds(2);
    call.llmIsAsked('user: Hm?', 'assistant: Something is not working.', 'user: [unheard]');
    call.llmAnswers('Here it is.').botSays('I am back. Here it is.').botFinishes().ends(undefined);
  }),

  dialogue(
    'a TTS that breaks off in the middle of every piece is given up, and the caller is told',
    (begin) => {
      const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.');
      for (const context of [1, 2, 3, 4]) {
        call.tell({ type: 'playout.started', context, audioAt: 0 }).ttsFails().ends(undefined).skips();
        call.tell({ type: 'playout.drained', context, sentMs: 200 });
      }
      call.botSays(announcement).botFinishes().ends(undefined).later(2_000).rounds(2);
    },
  ),

  dialogue(
    'a TTS that stays silent behind the announcement has it said again, unless somebody speaks',
    (begin) => {
      for (const speaks of [false, true]) {
        const outage = { ...scriptSettings.outage, keepMs: 60_000 };
        const interrupt = { ...scriptSettings.interrupt, enabled: false };
        const call = begin({ linesReady: false, settings: { outage, interrupt } }).opens().callerSays('Hm?');
        call.llmAnswers('Here it is.').later(2_000).botSays(`${announcement}Here it is.`);
        const { context } = call;
        call.tell({ type: 'playout.started', context, audioAt: 0 }).later(1_000);
        call.tell({ type: 'tts.spoken', context, chars: announcement.length, audioMs: 1_000 });
        call.tell({ type: 'playout.starved', context, sentMs: 1_000 }).later(2_000);
        if (speaks) call.callerBegins();
        call.skips().later(700).ordered('fault tts stalled').skips();
        call.tell({ type: 'playout.drained', context, sentMs: 1_000 });
        if (speaks) call.without('playout.open');
        else call.ordered(`announce 3 "${announcement}"`);
      }
    },
  ),

  dialogue('a TTS that takes text and says nothing is stood in for in time', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').llmAnswers('Here it is.').skips();
    call.later(1_999).orders().later(1).ordered('fault tts stalled').ordered(`announce 2 "${announcement}"`);
  }),

  dialogue('so is a filler for a slow LLM that TTS does not speak', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').later(1_100).botSays('One moment. ');
    call.later(899).skips().later(1).ordered('fault tts stalled').botSays(announcement);
    call.botPlays(Infinity).llmAnswers('It is ten.').botSays(`${announcement}It is ten.`);
  }),

  dialogue('with STT and TTS silent something is heard within three seconds of the last word', (begin) => {
    const call = begin({ linesReady: false }).opens().callerBegins().later(1_000);
    call.callerStops().silenceEndsTheTurn();
    const pauseMs = scriptSettings.turn.silenceEndMs;
    call.later(1_600).botSays('Sorry, say that again.').skips();
    call.later(2_800 - pauseMs - 1_600).ordered(`announce 2 "${announcement}"`);
  }),

  dialogue('so is with LLM and TTS silent', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').skips();
    call.later(2_700 - scriptSettings.turn.silenceEndMs).ordered(`announce 2 "${announcement}"`);
  }),

  dialogue('so is a greeting, which is said once TTS is back', (begin) => {
    const call = begin({ linesReady: false, settings: { greeting: 'Hello.' } }).opens();
    refuses(call, 2_500).skips().later(200).ordered(`announce 12 "${announcement}"`);
    call.botSays(`${announcement}Hello.`);
  }),

  dialogue('an apology that makes no sound is stood in for at once, and the call goes on', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').llmFails().skips();
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 });
    call.orders('fault tts empty', 'playout.open 2', 'tts.speak 2 "Sorry, say that again."', 'tts.flush 2');
    call.tell({ type: 'playout.drained', context: 2, sentMs: 0 }).botSays(announcement);
    call.botFinishes().ends(undefined).callerSays('Again.');
    call.llmIsAsked('user: Hm?', 'assistant: Something is not working.', 'user: Again.');
  }),

  dialogue(
    'an apology in place of an answer without sound has the rest of the time of the answer',
    (begin) => {
      const call = begin({ linesReady: false })
        .opens()
        .callerSays('Hm?')
        .llmAnswers('Here it is.')
        .later(1_500);
      call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).botSays('Sorry, say that again.').skips();
      call.later(649).orders().later(1).ordered('fault tts stalled').ordered(`announce 3 "${announcement}"`);
    },
  ),

  dialogue(
    'a question and a farewell without sound are stood in for, a line of somebody else is not',
    (begin) => {
      const call = begin({ linesReady: false }).opens().later(10_000).botSays('Are you still there?');
      call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).botSays(announcement).botFinishes();
      call.tell(say('Hm.')).botSays('Hm.').skips();
      call.tell({ type: 'playout.drained', context: 3, sentMs: 0 }).orders('fault tts empty');
      const last = begin({ linesReady: false, settings: { maxCallMs: 1_000 } })
        .opens()
        .later(1_000);
      last.botSays('Goodbye.').tell({ type: 'playout.drained', context: 1, sentMs: 0 }).botSays(announcement);
      last.ends(undefined).botFinishes().ends('ended');
    },
  ),

  dialogue('lines without sound that follow one another do not make the caller wait anew', (begin) => {
    const call = begin({ linesReady: false }).opens();
    for (const text of ['One.', 'Two.', 'Three.']) call.tell(say(text));
    for (const context of [1, 2]) call.later(1_000).tell({ type: 'playout.drained', context, sentMs: 0 });
    call.botSays('Three.').skips().later(699).orders().later(1);
    call.ordered('fault tts stalled').botSays(`${announcement}Three.`);
  }),

  dialogue('a line that is ready is heard, however long the caller has been waiting', (begin) => {
    const call = begin({ settings: { maxCallMs: 2_690 } }).opens();
    call.tell(say('Hm.')).later(2_695);
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 }).botSays('Goodbye.').skips();
    call.later(59).orders().botFinishes().ends('ended');
  }),

  dialogue('an answer that waited behind a line without sound has the rest of its time', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').later(1_000);
    call
      .tell(say('Hm.', { interrupt: true }))
      .botSays('Hm.')
      .later(1_000);
    call.tell({ type: 'playout.drained', context: 2, sentMs: 0 }).llmAnswers('Ten.').skips();
    call.later(699).orders().later(1).ordered('fault tts stalled').botSays(`${announcement}Ten.`);
  }),

  dialogue('a TTS that stays down says goodbye by the announcement, once', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').llmAnswers('Here it is.');
    refuses(call, 10_000).ends(undefined).skips().ttsFails();
    call.ordered(`announce ${call.context} "${announcement}"`).botSays(announcement);
    // Sessions that die while it is played cut nothing.
    call.botPlays(400).skips().ttsFails().orders('tts.reopen', 'fault tts failed');
    call.botFinishes().ends('ended', 'providers').waitsForNothing();
  }),

  dialogue('a call in which nobody has spoken ends with the announcement and not in silence', (begin) => {
    const call = begin({ linesReady: false }).opens();
    for (let second = 0; second <= 10; second += 1) call.ttsFails().later(1_000);
    call.botSays(announcement).ends(undefined).botFinishes().ends('ended');
  }),

  dialogue('a caller who speaks while TTS is given up is heard out first', (begin) => {
    const call = begin({ linesReady: false }).opens().callerBegins();
    for (let second = 0; second <= 12; second += 1) call.ttsFails().later(1_000);
    call.ends(undefined).callerStops().silenceEndsTheTurn().sttHears('Hello?').sttFinalizes();
    call.ttsFails().botSays(announcement).ends(undefined).botFinishes().ends('ended');
  }),

  dialogue('an announcement that is heard to be the last has the end of the call behind it', (begin) => {
    const outage = { ...scriptSettings.outage, keepMs: 0 };
    const call = begin({ linesReady: false, settings: { outage } }).opens().callerSays('Hm?');
    call.later(1_100).later(900).botSays(announcement).botPlays(300).llmAnswers('Ten.');
    call.ttsFails().ttsFails().botPlays(Infinity).drains().ends('ended');
  }),

  dialogue(
    'the caller may interrupt the announcement, and the context keeps what was heard of it',
    (begin) => {
      const call = begin({ linesReady: false })
        .opens()
        .callerSays('Hm?')
        .llmAnswers('Here it is.')
        .later(2_700);
      call.botPlays(750).callerBegins().callerInsists().sttHears('What?').callerStops();
      call.silenceEndsTheTurn().sttFinalizes();
      call.llmIsAsked('user: Hm?', 'assistant: Something is not', 'user: What?');
    },
  ),

  dialogue('a signal without words leaves no word in the context', (begin) => {
    const call = begin({ linesReady: false, settings: { announcement: '' } }).opens();
    call.callerSays('Hm?').llmAnswers('Here it is.').skips().later(2_700).ordered('announce 2 ""');
    call.botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Hm?', 'assistant: Here it is.', 'user: Thanks.');
  }),

  dialogue('an announcement whose session died before it was heard is played by the next one', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').llmFails();
    call.tell({ type: 'playout.drained', context: 1, sentMs: 0 });
    call.tell({ type: 'playout.drained', context: 2, sentMs: 0 }).skips();
    call.ttsFails().ordered(`announce 4 "${announcement}"`).botSays(announcement);
  }),

  dialogue('another worker plays on in the announcement', (begin) => {
    const call = begin({ linesReady: false })
      .opens()
      .callerSays('Hm?')
      .llmAnswers('Here it is.')
      .later(2_700);
    call.botPlays(300).skips().workerIsLost();
    call.ordered(`announce 3 "${announcement}"`).ordered('tts.speak 3 "Here it is."');
  }),

  dialogue('a worker that has not made the lines yet does not count on them', (begin) => {
    const call = begin().opens().callerSays('Hm?').llmAnswers('Here it is.');
    call.tell({ type: 'call.resumed', position: undefined, turnAudio: false }).skips().later(2_700);
    call.ordered('fault tts stalled').botSays(`${announcement}Here it is.`);
  }),

  dialogue('an announcement that nothing plays does not hold the call for ever', (begin) => {
    const call = begin({ linesReady: false }).opens().callerSays('Hm?').llmAnswers('Here it is.');
    call
      .later(2_700)
      .later(2_700)
      .later(2_700)
      .later(2_700)
      .ends(undefined)
      .later(2_700)
      .later(60_000)
      .ends('ended');
  }),
];
