/** Words of listening, echo, single words and lines that stay: what does not interrupt the agent, and what does. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';
import type { Script } from '../../support/core/script.ts';
import type { ScriptOptions } from '../../support/core/script-settings.ts';
import { say } from '../../support/core/given.ts';

const answer = 'Alpha beta gamma delta epsilon zeta eta theta.';

type Begin = Parameters<Dialogue['play']>[0];

/** The agent speaks, and 20 characters of it are on the wire. */
const speaking = (begin: Begin, options: Omit<ScriptOptions, 'core'> = {}): Script =>
  begin(options)
    .opens()
    .callerSays('Go.')
    .llmAnswers(answer)
    .botPlays(20 * msPerChar);

/** The same with an STT that tells words when it is asked. */
const untold = (begin: Begin, options: Omit<ScriptOptions, 'core'> = {}): Script =>
  begin(options)
    .opens()
    .callerBegins()
    .callerStops()
    .silenceEndsTheTurn()
    .sttHears('Go.')
    .sttFinalizes()
    .llmAnswers(answer)
    .botPlays(20 * msPerChar);

const interruptedBy = (minWords: number, wordlessMs = 0): Omit<ScriptOptions, 'core'> => ({
  settings: { interrupt: { ...scriptSettings.interrupt, minWords, wordlessMs } },
});

const noProblem: Omit<ScriptOptions, 'core'> = {
  settings: { interrupt: { ...scriptSettings.interrupt, minWords: 1, backchannels: ['no problem'] } },
};

export const listening: readonly Dialogue[] = [
  dialogue('"mm-hmm" holds the output and lets it go on at the sample', (begin) => {
    const call = speaking(begin).skips().callerBegins().sttGuesses('Mm-hmm.').isHeld().callerStops();
    call.orders('playout.pause', 'stt.listen', 'stt.finalize', 'playout.resume');
    call.sttHears('Mm-hmm.').sttFinalizes().botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Thanks.');
  }),

  dialogue(
    'a voice that goes on behind words of listening is heard, and its first telling word cuts',
    (begin) => {
      const call = speaking(begin, interruptedBy(1, 700)).callerBegins().skips();
      call.sttGuesses('Mm-hmm').later(249).orders().later(1).orders('playout.resume').later(300).orders();
      call.sttGuesses('Mm-hmm but').ordered('playout.clear 2');
    },
  ),

  dialogue('a sound of which STT finds no word lets the bot go on as soon as STT has said so', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).callerBegins().callerStops().skips();
    call.later(200).orders().sttFinalizes().orders('playout.resume');
    call.later(3_000).orders().botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Thanks.');
  }),

  dialogue(
    'the agent gives way softly, and stays soft until it is known what a short voice said',
    (begin) => {
      const call = speaking(begin, interruptedBy(1, 700)).skips();
      call.callerBegins().orders('playout.pause', 'stt.listen').isHeld();
      call.later(150).callerStops().orders('stt.finalize', 'playout.duck');
      call.sttHears('Mm-hmm.').orders('playout.resume').sttFinalizes().later(3_000).orders();
    },
  ),

  dialogue('a voice that comes back while the agent is soft makes it give way again', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).callerBegins().later(150).callerStops().skips();
    call.callerBegins().orders('playout.pause', 'stt.listen').isHeld();
    call.callerInsists().sttGuesses('Stop').ordered('playout.clear 2');
  }),

  dialogue('behind a voice of a breath the agent stands still until its words are known', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).callerBegins().later(750).skips();
    call.callerStops().orders('stt.finalize').isHeld();
    call.sttHears('Mm-hmm.').orders('playout.resume');
  }),

  dialogue('a short pause of a voice over the bot asks what was said, and ends no turn', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).callerBegins().skips();
    call.tell({ type: 'voice.paused', silenceMs: 128 }).orders('stt.finalize', 'playout.duck');
    call.sttHears('Mm-hmm.').orders('playout.resume').sttFinalizes();
    call.callerStops().later(3_000).orders();
  }),

  dialogue('a hum holds nothing before it is confirmed', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).skips();
    call.tell({ type: 'speech.started', isFaint: true }).orders('stt.listen');
    call.callerInsists().orders('playout.pause').sttGuesses('Stop').ordered('playout.clear 2');
  }),

  dialogue('half of "I see" is not an interruption yet', (begin) => {
    const call = speaking(begin).callerBegins().skips().sttGuesses('I').orders().sttGuesses('I see').orders();
    call.sttGuesses('I see but').ordered('playout.clear 2');
  }),

  dialogue('"no" may become "no problem" while the voice goes on and the bot stands still', (begin) => {
    const call = speaking(begin, noProblem)
      .callerBegins()
      .skips()
      .sttGuesses('No')
      .later(500)
      .orders('playout.pause');
    call.sttGuesses('No problem').later(250).orders('playout.resume').callerStops().sttHears('No problem.');
    call.sttFinalizes().without('playout.clear');
    speaking(begin, noProblem)
      .callerBegins()
      .skips()
      .sttGuesses('No')
      .sttGuesses('No but')
      .ordered('playout.clear 2');
  }),

  dialogue('"no" cuts at a pause, and where nothing follows it in time', (begin) => {
    const paused = speaking(begin, noProblem)
      .callerBegins()
      .sttGuesses('No')
      .later(200)
      .callerStops()
      .skips();
    paused.sttHears('No.').ordered('playout.clear 2');
    const owed = speaking(begin, noProblem).callerBegins().sttGuesses('No').callerStops().skips();
    owed.later(1_000).ordered('playout.clear 2');
    const goesOn = speaking(begin, noProblem)
      .callerBegins()
      .skips()
      .sttGuesses('No')
      .later(899)
      .orders('playout.pause');
    goesOn.later(1).ordered('playout.clear 2');
  }),

  dialogue('"no" cuts at once where the bot does not stand still', (begin) => {
    const call = speaking(begin, noProblem).skips();
    call.tell({ type: 'speech.started', isFaint: true, belowCallerDb: 0 });
    call.sttGuesses('No').ordered('playout.clear 2');
  }),

  dialogue('"what" may become "what a shame", and is waited for as "no" is', (begin) => {
    const call = speaking(begin).callerBegins().skips().sttGuesses('What').sttGuesses('What a');
    call.later(300).orders('playout.pause');
    call
      .sttGuesses('What a shame')
      .later(250)
      .orders('playout.resume')
      .callerStops()
      .sttHears('What a shame.');
    call.sttFinalizes().without('playout.clear');
    const jokes = speaking(begin).callerBegins().skips().sttGuesses('No').later(300).orders('playout.pause');
    jokes.sttGuesses('No kidding').later(250).orders('playout.resume').callerStops().sttHears('No kidding.');
    jokes.sttFinalizes().without('playout.clear');
    const asks = speaking(begin).callerBegins().skips().sttGuesses('What');
    asks.sttGuesses('What time').ordered('playout.clear 2');
  }),

  dialogue(
    'words of a soft voice of which nobody knows whose it is cut nothing as long as the voice goes on',
    (begin) => {
      const call = speaking(begin, interruptedBy(1, 700)).skips();
      call
        .tell({ type: 'speech.started', isFaint: true })
        .sttGuesses('And now the weather')
        .orders('stt.listen');
      call.later(1_000).sttGuesses('And now the weather for tomorrow').orders();
      call.callerStops().skips().later(399).orders().later(1).ordered('playout.clear 2');
    },
  ),

  dialogue(
    'the agent gives way softly to such a voice that begins in its answer, and for a second',
    (begin) => {
      const call = speaking(begin, interruptedBy(1, 700)).skips();
      const position = { context: 2, sentMs: 900 };
      call.tell({ type: 'speech.started', isFaint: true, isDoubtful: true, position });
      call.orders('playout.duck', 'stt.listen').later(999).orders().later(1).orders('playout.resume');
      const cut = speaking(begin, interruptedBy(1, 700)).skips();
      cut.tell({ type: 'speech.started', isFaint: true, isDoubtful: true, position });
      cut.sttGuesses('And a table').ordered('playout.clear 2');
    },
  ),

  dialogue('nor less softly where the voice began as a hum does', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).skips();
    const position = { context: 2, sentMs: 900 };
    call.tell({ type: 'speech.started', isFaint: true, position }).orders('stt.listen').later(32).orders();
    call.tell({ type: 'speech.started', isFaint: true, isDoubtful: true, position }).orders('playout.duck');
    call.tell({ type: 'speech.started', isFaint: true, isDoubtful: true, position }).orders();
  }),

  dialogue('and are heard once the agent has said what it had to say', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700));
    call.tell({ type: 'speech.started', isFaint: true }).sttGuesses('And a table').botFinishes();
    call.sttHears('And a table for two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: And a table for two.');
  }),

  dialogue('words of listening that go on for a second and a half are something to say', (begin) => {
    const call = speaking(begin).callerBegins().sttGuesses('Mm-hmm.').callerInsists().skips();
    call.later(1_249).orders().later(1).ordered('playout.clear 2');
  }),

  dialogue('one telling word interrupts before the voice is long', (begin) => {
    const call = speaking(begin).callerBegins().skips().sttGuesses('Stop').ordered('playout.clear 2');
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma', 'user: Stop.');
  }),

  dialogue("a word that calls for a stop is not waited for to become one of the bot's", (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('It is now nothing but waiters and whatnots.');
    call
      .botPlays(20 * msPerChar)
      .callerBegins()
      .skips()
      .sttGuesses('wait')
      .ordered('playout.clear 2');
  }),

  dialogue('a word that the bot is about to say the beginning of is no echo', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('It is now nothing but a whatnot, a stopgap.');
    call
      .botPlays(20 * msPerChar)
      .callerBegins()
      .skips()
      .sttGuesses('stop')
      .ordered('playout.clear 2');
  }),

  dialogue('a short word that STT hears after the voice is gone still interrupts', (begin) => {
    const call = speaking(begin).callerBegins().callerStops().later(150).skips();
    call.sttHears('Stop.').ordered('playout.clear 2').sttFinalizes().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma delta', 'user: Stop.');
  }),

  dialogue('where a word is asked for, a voice without one interrupts once it has lasted', (begin) => {
    const call = untold(begin, interruptedBy(1, 1_000)).callerBegins().callerInsists().skips();
    call.later(900).orders().callerGoesOn(999).orders().callerGoesOn(1_000).ordered('playout.clear 2');
  }),

  dialogue('not where STT tells words as they come: a laugh has none', (begin) => {
    const call = speaking(begin, interruptedBy(1, 1_000)).callerBegins().callerInsists().skips();
    call.later(900).callerGoesOn(1_000).later(3_000).without('playout.clear');
    call.callerStops().sttFinalizes().without('playout.clear').botFinishes();
  }),

  dialogue(
    'where STT streamed in calls before, the first laugh of a call silences the agent for a second',
    (begin) => {
      const options = { settings: { ...interruptedBy(1, 1_000).settings, greeting: answer } };
      const laughs = (sttStreams: boolean): Script => {
        const call = begin(options).opens({ sttStreams });
        call
          .botPlays(20 * msPerChar)
          .callerBegins()
          .callerInsists()
          .skips();
        return call.later(740);
      };
      laughs(true).orders().later(10).orders('playout.duck').without('playout.clear');
      laughs(false).orders().later(1_000).orders();
    },
  ),

  dialogue('nor where the voice is softer than the caller, as a television is', (begin) => {
    const call = untold(begin, interruptedBy(1, 1_000)).callerBegins().callerInsists().skips();
    call.tell({ type: 'voice.lasted', lastedMs: 1_000, belowCallerDb: 14 }).without('playout.clear');
    call.sttGuesses('Stop that.').ordered('playout.clear 2');
  }),

  dialogue('nor before STT has told any word in the call: the greeting is heard', (begin) => {
    const options = interruptedBy(1, 1_000);
    const call = begin({ settings: { ...options.settings, greeting: answer } }).opens();
    call
      .botPlays(20 * msPerChar)
      .callerBegins()
      .callerInsists()
      .skips();
    call.callerGoesOn(1_000).later(4_000).without('playout.clear');
    call.sttGuesses('I have a question').ordered('playout.clear 2');
  }),

  dialogue('where a word is asked for, listening holds the output for no longer than it lasts', (begin) => {
    const call = speaking(begin, interruptedBy(1, 700)).callerBegins().callerInsists().skips();
    call.sttGuesses('Mm-hmm').later(249).orders().later(1).orders('playout.resume').callerStops();
    call.sttHears('Mm-hmm.').sttFinalizes().botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Thanks.');
  }),

  dialogue('where a word is asked for and no time is set, a voice without one never interrupts', (begin) => {
    const call = speaking(begin, interruptedBy(1)).callerBegins().callerInsists().skips();
    call
      .later(2_500 - 250 - 1)
      .orders('playout.duck')
      .later(1)
      .ordered('playout.resume');
  }),

  dialogue('where two words are asked for, neither a long voice nor one word interrupts', (begin) => {
    const call = speaking(begin, interruptedBy(2)).callerBegins().callerInsists().skips();
    call.sttGuesses('Wait').orders().sttGuesses('Wait please').ordered('playout.clear 2');
  }),

  dialogue('where words are asked for, words of listening are none of them', (begin) => {
    const call = speaking(begin, interruptedBy(1)).callerBegins().callerInsists().sttGuesses('I see').skips();
    call.later(2_000).without('playout.clear');
  }),

  dialogue('the bot goes on under a voice that holds it for too long, and words still interrupt', (begin) => {
    const call = speaking(begin, interruptedBy(1))
      .callerBegins()
      .skips()
      .later(999)
      .orders()
      .later(1)
      .orders('playout.duck');
    call.later(1_499).orders().later(1).orders('playout.resume').botPlays(100).skips();
    call.sttGuesses('Excuse me').ordered('playout.clear 2');
  }),

  dialogue("the bot's own words in the caller's microphone interrupt nothing", (begin) => {
    const call = speaking(begin).callerBegins().sttGuesses('alpha beta').callerInsists().skips();
    call.sttGuesses('alpha beta gamma').callerStops().later(400).without('playout.clear');
    call.sttFinalizes().botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Thanks.');
  }),

  dialogue('what the caller says into the echo interrupts', (begin) => {
    const call = speaking(begin).callerBegins().sttGuesses('alpha beta').skips();
    call.sttGuesses('alpha beta no wait').ordered('playout.clear 2');
  }),

  dialogue('a voice that is surely not the echo interrupts, although STT wrote the echo down', (begin) => {
    const call = speaking(begin).callerBegins().sttGuesses('alpha beta').skips();
    call.callerInsists({ isNoEcho: true }).ordered('playout.clear 2');
  }),

  dialogue(
    'words of listening are none of the echo either, and interrupt no more than elsewhere',
    (begin) => {
      const call = speaking(begin).callerBegins().sttGuesses('alpha beta I see').skips();
      call.callerInsists({ isNoEcho: true }).without('playout.clear');
    },
  ),

  dialogue(
    'a voice that is surely not the echo needs no words, where an echo has cut the bot before',
    (begin) => {
      const call = speaking(begin).callerBegins().callerInsists().callerStops().sttHears('beta gamma.');
      call.silenceEndsTheTurn().sttFinalizes().botPlays(500).callerBegins().skips();
      call.callerInsists({ isNoEcho: true }).ordered('playout.clear 3');
    },
  ),

  dialogue('an echo that was taken for an interruption is not answered: the bot says the rest', (begin) => {
    const call = speaking(begin).callerBegins().callerInsists().callerStops().sttHears('beta gamma.');
    call.silenceEndsTheTurn().skips().sttFinalizes().rounds(1).botSays('epsilon zeta eta theta.');
  }),

  dialogue('once the echo is known, only words interrupt', (begin) => {
    const call = speaking(begin).callerBegins().callerInsists().callerStops().sttHears('beta gamma.');
    call.silenceEndsTheTurn().sttFinalizes().botPlays(500).callerBegins().skips();
    call.callerInsists().without('playout.clear').sttGuesses('no stop').ordered('playout.clear 3');
  }),

  dialogue('words of listening that cut the bot by the length of the voice lead to the rest', (begin) => {
    const call = speaking(begin).callerBegins().callerInsists().callerStops().silenceEndsTheTurn().skips();
    call.sttHears('Mm-hmm.').sttFinalizes().rounds(1).botSays('epsilon zeta eta theta.');
  }),

  dialogue('to a question, a word of listening is an answer', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('Shall I?').botFinishes().callerSays('Mm-hmm.');
    call.llmIsAsked('user: Go.', 'assistant: Shall I?', 'user: Mm-hmm.');
  }),

  dialogue(
    'a line that may not be interrupted is spoken through, and speech that outlasts it is a turn',
    (begin) => {
      const call = begin().opens();
      call.tell(say('This call is recorded.', { interruptible: false }));
      call.botPlays(200).skips().callerBegins().callerInsists().orders('stt.listen').botFinishes();
      call.sttHears('Hello?').callerStops().silenceEndsTheTurn().sttFinalizes();
      call.llmIsAsked('assistant: This call is recorded.', 'user: Hello?');
    },
  ),

  dialogue('a lone full stop of STT is nobody', (begin) => {
    begin()
      .opens()
      .callerBegins()
      .callerStops()
      .silenceEndsTheTurn()
      .skips()
      .sttHears('.')
      .sttFinalizes()
      .orders();
  }),

  dialogue('once the echo is known, it does not hold the bot either', (begin) => {
    const call = speaking(begin).callerBegins().callerInsists().callerStops().sttHears('beta gamma.');
    call.silenceEndsTheTurn().sttFinalizes().botPlays(500).skips().callerBegins().orders('stt.listen');
    call.callerStops().later(400).orders('stt.finalize').botPlays(100);
  }),

  dialogue('what was played to its end is not cut by what is due at the same instant', (begin) => {
    const call = speaking(begin).callerBegins().callerInsists().callerStops().sttHears('beta gamma.');
    call.silenceEndsTheTurn().sttFinalizes().botPlays(700).callerBegins().sttGuesses('mm-hmm');
    call.callerInsists().botPlays(Infinity).drains().skips().later(500).without('playout.clear');
    call.callerStops().sttHears('Mm-hmm.').silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked(
      'user: Go.',
      'assistant: Alpha beta gamma delta',
      'assistant: epsilon zeta eta theta.',
      'user: Mm-hmm.',
    );
    // The candidate is looked at again in the very moment in which the response ends.
    const other = begin().opens().callerSays('Go.').llmAnswers('Alpha beta gamma delta.').botPlays(500);
    other.callerBegins().sttGuesses('mm-hmm').callerInsists().later(350).botPlays(Infinity).drains();
    other.skips().later(500).without('playout.clear');
  }),

  dialogue('words of an aside have the agent go on only when STT owes none of it', (begin) => {
    const call = speaking(begin)
      .callerBegins()
      .callerStops()
      .later(1_200)
      .callerBegins()
      .callerStops()
      .skips();
    call.sttHears('mm-hmm').orders();
  }),

  dialogue('what two sessions of STT heard of the same words counts once', (begin) => {
    const limits = { ...scriptSettings.limits, replayMs: 1_500 };
    const call = begin({ settings: { limits } }).opens().callerBegins().later(1_000).sttHears('One two.');
    call.later(900).sttHears('three four.').later(600).tell({ type: 'stt.failed' }).sttHears('Four five.');
    call.callerStops().silenceEndsTheTurn().sttFinalizes().llmIsAsked('user: One two. three Four five.');
  }),

  dialogue("a caller who answers with the bot's own words is answered", (begin) => {
    const call = begin()
      .opens()
      .callerSays('Hi.')
      .llmAnswers('Is it John Smith?')
      .botPlays(Infinity)
      .drains();
    call.later(250).callerBegins().later(300).callerInsists().sttHears('John Smith.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Hi.', 'assistant: Is it John Smith?', 'user: John Smith.');
  }),

  dialogue('an echo of the end of an answer is not answered', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Hi.')
      .llmAnswers('Is it John Smith?')
      .botPlays(Infinity)
      .drains();
    call.callerBegins().later(400).callerInsists().sttHears('John Smith.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().rounds(1);
  }),

  dialogue('an echo of what was said before TTS failed does not cut what goes on behind it', (begin) => {
    const call = speaking(begin, interruptedBy(1)).callerBegins().ttsFails().later(2_500).drains();
    call
      .botPlays(10 * msPerChar)
      .skips()
      .sttHears('beta gamma.')
      .without('playout.clear');
  }),
];
