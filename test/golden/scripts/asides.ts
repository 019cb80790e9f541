/** What is said into a response that goes on: it cuts late, or is answered when the response is over, or is forgotten. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';
import type { Script } from '../../support/core/script.ts';
import type { ScriptOptions } from '../../support/core/script-settings.ts';
import { say } from '../../support/core/given.ts';

const answer = 'Alpha beta gamma delta epsilon zeta eta theta.';

type Begin = Parameters<Dialogue['play']>[0];
type Options = Omit<ScriptOptions, 'core'>;

const interruptions = (change: Partial<typeof scriptSettings.interrupt>): Options => ({
  settings: { interrupt: { ...scriptSettings.interrupt, ...change } },
});
const off = interruptions({ enabled: false });

/** The agent speaks, and 20 characters of it are on the wire. */
const speaking = (begin: Begin, options: Options = {}): Script =>
  begin(options)
    .opens()
    .callerSays('Go.')
    .llmAnswers(answer)
    .botPlays(20 * msPerChar);

/** Voice that is too short to interrupt, and the agent goes on. */
const faded = (begin: Begin, options: Options = {}): Script =>
  speaking(begin, options).callerBegins().callerStops().later(400).botPlays(50).skips();

/** The caller has spoken into a response that may not be cut, and STT has told what it was. */
const saysInto = (begin: Begin, text: string, options: Options = off): Script => {
  const call = speaking(begin, options).skips().callerBegins().callerInsists().callerStops();
  return call.sttHears(text).sttFinalizes().orders('stt.listen', 'stt.finalize');
};

export const asides: readonly Dialogue[] = [
  dialogue('"stop" that STT tells after the bot has gone on still interrupts it', (begin) => {
    const call = faded(begin)
      .sttHears('Stop.')
      .ordered('playout.clear 2')
      .sttFinalizes()
      .silenceEndsTheTurn();
    call.sttFinalizes().llmIsAsked('user: Go.', 'assistant: Alpha beta gamma delta', 'user: Stop.');
  }),

  dialogue('words of listening and sounds that STT tells late change nothing', (begin) => {
    for (const text of ['Mm-hmm.', 'Ahem.', 'I see.', '.']) {
      const call = faded(begin).sttHears(text).sttFinalizes().orders().botFinishes();
      call.callerSays('Thanks.').llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Thanks.');
    }
  }),

  dialogue("the bot's own words that STT tells late change nothing", (begin) => {
    const call = faded(begin).sttHears('beta gamma').sttFinalizes().orders().botFinishes().later(5_000);
    call.rounds(1);
  }),

  dialogue("the bot's own words that STT tells after a line has cut it do not cut the line", (begin) => {
    const call = faded(begin).tell(say('Your taxi is here.', { interrupt: true }));
    call.ordered('playout.clear 2').skips().sttHears('beta gamma').sttFinalizes().orders();
    call.botFinishes().later(5_000).rounds(1);
  }),

  dialogue('a single word of the bot that STT tells late is its echo', (begin) => {
    faded(begin).sttHears('gamma').sttFinalizes().orders().botFinishes().later(5_000).rounds(1);
  }),

  dialogue('"no" that STT tells after the response is over is answered', (begin) => {
    const call = faded(begin, { echoMs: 100 })
      .botFinishes()
      .rounds(1)
      .sttHears('No.')
      .sttFinalizes()
      .later(0);
    call.sttFinalizes().llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: No.');
  }),

  dialogue('what STT tells late belongs to a caller who has begun to speak again', (begin) => {
    const call = faded(begin).callerBegins().sttHears('Wait.').ordered('playout.clear 2').sttFinalizes();
    call.callerInsists().sttHears('I need two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma delta', 'user: Wait. I need two.');
  }),

  dialogue('a sound that STT tells late is no part of what the caller says next', (begin) => {
    const call = faded(begin).callerBegins().sttHears('Ahem.').sttFinalizes().callerInsists();
    call.sttHears('I need two.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma delta', 'user: I need two.');
  }),

  dialogue(
    'the next possible interruption behind a late text holds the bot as the first one did',
    (begin) => {
      const call = faded(begin).callerBegins().isHeld().orders('playout.pause', 'stt.listen').sttFinalizes();
      call.later(2_499).orders('playout.duck').later(1).orders('playout.resume');
    },
  ),

  dialogue('an STT that owes the text of an aside is replaced, and the words are not lost', (begin) => {
    const call = faded(begin)
      .later(1_650)
      .orders('stt.reopen', 'stt.replay', 'stt.finalize', 'fault stt stalled');
    call.sttHears('Stop.').ordered('playout.clear 2');
  }),

  dialogue('a line of somebody else does not wait for what STT still owes', (begin) => {
    const call = faded(begin).tell(say('Listen.', { interrupt: true, interruptible: false }));
    call.botSays('Listen.').sttHears('Stop.').sttFinalizes().botFinishes().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Listen.', 'user: Stop.');
  }),

  dialogue('where interruptions are off, what was said is answered when the bot has finished', (begin) => {
    const call = saysInto(begin, 'And for Monday?').botFinishes().rounds(1);
    call.sttFinalizes().llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: And for Monday?');
  }),

  dialogue('what is said into it in several parts is one turn', (begin) => {
    const call = saysInto(begin, 'For Monday.')
      .callerBegins()
      .callerStops()
      .sttHears('At ten.')
      .sttFinalizes();
    call.botFinishes().sttFinalizes();
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: For Monday. At ten.');
  }),

  dialogue('listening, sounds and echo are not answered there either', (begin) => {
    for (const text of ['Mm-hmm.', 'Uh.', 'beta gamma', 'beta gamma dealt']) {
      const call = saysInto(begin, text).botFinishes().later(5_000).rounds(1);
      call.callerSays('Thanks.').llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Thanks.');
    }
  }),

  dialogue('a word of listening into the last words is an answer to them', (begin) => {
    const call = begin(off).opens().callerSays('Go.').llmAnswers('Shall I?').botPlays(100).callerBegins();
    call.callerStops().sttHears('Mm-hmm.').sttFinalizes().botFinishes().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Shall I?', 'user: Mm-hmm.');
  }),

  dialogue('what was said into a line that stays is answered behind it', (begin) => {
    const call = begin().opens();
    call.tell(say('This call is recorded.', { interruptible: false }));
    call.botPlays(200).callerBegins().callerInsists().sttHears('Hello?').callerStops().sttFinalizes();
    call.botFinishes().sttFinalizes();
    call.llmIsAsked('assistant: This call is recorded.', 'user: Hello?');
  }),

  dialogue('a word that is too few to interrupt is answered when the bot has finished', (begin) => {
    const call = faded(begin, interruptions({ minWords: 2 }))
      .sttHears('Monday.')
      .sttFinalizes()
      .orders();
    call.botFinishes().sttFinalizes();
    call.llmIsAsked('user: Go.', `assistant: ${answer}`, 'user: Monday.');
  }),

  dialogue('what was said when a key cuts the bot is answered with the keys', (begin) => {
    const call = faded(begin)
      .presses('1')
      .sttHears('Sales please.')
      .sttFinalizes()
      .presses('#')
      .silenceEndsTheTurn();
    call.sttFinalizes();
    call.llmIsAsked(
      'user: Go.',
      'assistant: Alpha beta gamma delta',
      'user: Sales please.',
      'user: [The caller pressed the keys: 1]',
    );
  }),

  dialogue('a key into a sound that STT tells late is answered', (begin) => {
    const call = faded(begin).presses('1#').rounds(1).sttHears('Ahem.').sttFinalizes().rounds(2);
    call.llmIsAsked(
      'user: Go.',
      'assistant: Alpha beta gamma delta',
      'user: [The caller pressed the keys: 1]',
    );
  }),

  dialogue('a long voice interrupts although STT owes the text of the sound before it', (begin) => {
    const call = faded(begin).sttHears('Mm-hmm.').callerBegins().skips().callerInsists();
    call.ordered('playout.clear 2');
  }),

  dialogue('another worker hears an aside again', (begin) => {
    const call = faded(begin).workerIsLost().ordered('stt.listen').later(600).botPlays(100);
    call.sttHears('Stop.').ordered('playout.clear 3');
  }),
];
