/** The caller speaks while the agent does: candidates that die, and interruptions that cut. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';

const words = (text: string): number => text.length * msPerChar;

/** What is heard softly while the agent gives way, until the voice has lasted so long that it interrupts. */
const duckedChars = Math.floor(250 / words('x'));

export const interruptions: readonly Dialogue[] = [
  dialogue('speech holds the output first and cuts it once it is confirmed', (begin) => {
    const call = begin({ echoMs: 100 })
      .opens()
      .callerSays('Tell me.')
      .llmWrites('One story. Then another one. ');
    call.botPlays(words('One story.')).skips();
    call.callerBegins().orders('playout.pause', 'stt.listen');
    call.callerInsists().orders('playout.clear 2', 'llm.cancel', 'tts.cancel 1');
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.orders('stt.finalize', 'playout.open 2', 'llm.start 2');
  }),

  dialogue('the LLM is not cancelled once it is done', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Tell me.')
      .llmAnswers('A long story follows now.')
      .botPlays(400)
      .skips();
    call.callerBegins().callerInsists().ordered('playout.clear 2').without('llm.cancel');
  }),

  dialogue('an echoed mark keeps its piece, and what follows it is cut by the position', (begin) => {
    const call = begin({ echoMs: 100 }).opens().callerSays('Go.').llmAnswers('First part. Second part here.');
    call
      .botPlays(words('First part. ') + words('Second pa'))
      .callerBegins()
      .callerInsists();
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: First part. Second part', 'user: Stop.');
  }),

  dialogue('a sent mark without its echo keeps later pieces out', (begin) => {
    const call = begin({ echoMs: 100 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
    call.callerSays('Go.').llmAnswers('First part. Second part here.').losesEchoes();
    call
      .botPlays(words('First part. ') + 700)
      .callerBegins()
      .callerInsists();
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Hm.', 'assistant: Yes.', 'user: Go.', 'assistant: First part.', 'user: Stop.');
  }),

  dialogue('the delay of the client is taken off the position', (begin) => {
    const call = begin({ echoMs: 500 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
    call.callerSays('Go.').llmAnswers('Alpha beta gamma delta epsilon.');
    call.botPlays(words('Alpha beta gamma ')).callerBegins().callerInsists();
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Hm.', 'assistant: Yes.', 'user: Go.', 'assistant: Alpha beta', 'user: Stop.');
  }),

  dialogue('the client plays on while the output is held', (begin) => {
    const call = begin({ echoMs: 300 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
    call.callerSays('Go.').llmAnswers('Alpha beta gamma delta epsilon.').botPlays(words('Alpha beta gamma '));
    call.callerBegins().later(800).callerInsists().sttHears('Stop.').callerStops().silenceEndsTheTurn();
    call.sttFinalizes();
    call.llmIsAsked(
      'user: Hm.',
      'assistant: Yes.',
      'user: Go.',
      'assistant: Alpha beta gamma delta',
      'user: Stop.',
    );
  }),

  dialogue('an echo that comes after its answer is over still tells the delay', (begin) => {
    const call = begin({ echoMs: 800 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
    call.callerSays('Go.').llmAnswers('Alpha beta gamma delta epsilon.').botPlays(words('Alpha beta gamma '));
    call.callerBegins().callerInsists().sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Hm.', 'assistant: Yes.', 'user: Go.', 'assistant: Alpha', 'user: Stop.');
  }),

  dialogue('without marks the position alone decides', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('Alpha beta gamma delta epsilon.');
    call.botPlays(words('Alpha beta gamma ')).callerBegins().callerInsists();
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma', 'user: Stop.');
  }),

  dialogue('a piece that TTS has not finished is estimated by the length of its text', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('Alpha beta gamma delta epsilon.').skips();
    const context = call.context;
    call.tell({ type: 'playout.started', context, audioAt: 0 }).callerBegins();
    call.tell({ type: 'speech.confirmed', position: { context, sentMs: 65 * 12 } });
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta', 'user: Stop.');
  }),

  dialogue('TTS may report several pieces at once', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Go.')
      .llmAnswers('First part. Second part here. And a third one.');
    const context = call.context;
    call.tell({ type: 'playout.started', context, audioAt: 0 });
    call.tell({ type: 'tts.spoken', context, chars: 30, audioMs: words('x') * 30 });
    call.tell({ type: 'tts.spoken', context, chars: 46, audioMs: words('x') * 46 });
    call
      .skips()
      .tell({ type: 'tts.flushed', context, audioMs: words('x') * 46 })
      .orders();
    call.callerBegins();
    call.tell({ type: 'speech.confirmed', position: { context, sentMs: words('First part. Second part ') } });
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: First part. Second part', 'user: Stop.');
  }),

  dialogue('the answer never ends inside a word', (begin) => {
    for (let chars = 0; chars <= 17; chars += 1) {
      const call = begin().opens().callerSays('Go.').llmAnswers('Alpha beta gamma delta.');
      call
        .botPlays(words('x') * chars + words('x') / 2 + 1)
        .callerBegins()
        .callerInsists();
      call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
      const whole = ['Alpha', 'Alpha beta', 'Alpha beta gamma', 'Alpha beta gamma delta.'];
      // The agent gives way softly before it stands still, and is heard meanwhile.
      const heard = whole.findLast((text) => text.length <= chars + duckedChars);
      const kept = heard === undefined ? [] : [`assistant: ${heard}`];
      call.llmIsAsked('user: Go.', ...kept, 'user: Stop.');
    }
  }),

  dialogue('nothing of an answer that was never audible enters the context', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('Nobody hears this.').skips();
    call.callerBegins().callerInsists().ordered('playout.clear 2 unheard');
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'user: Stop.');
  }),

  dialogue('an interruption while the client still plays the end keeps what it had time to play', (begin) => {
    const call = begin({ echoMs: 400 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
    call.callerSays('Go.').llmAnswers('Alpha beta gamma delta.').botPlays(Infinity).drains();
    call.callerBegins().callerInsists().sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked(
      'user: Hm.',
      'assistant: Yes.',
      'user: Go.',
      'assistant: Alpha beta gamma',
      'user: Stop.',
    );
  }),

  dialogue('a cough holds the output and lets it go on', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(300).skips();
    call.callerBegins().callerStops().orders('playout.pause', 'stt.listen', 'stt.finalize', 'playout.duck');
    call.sttHears('Ahem.').orders('playout.resume').sttFinalizes().later(3_000).orders();
    call.botFinishes().callerSays('Thanks.');
    call.llmIsAsked('user: Go.', 'assistant: A long enough answer.', 'user: Thanks.');
  }),

  dialogue('the words of a cough do not enter the turn that follows it', (begin) => {
    const call = begin({ echoMs: 50 }).opens().callerSays('Go.').llmAnswers('Short.').botPlays(100);
    call.callerBegins().callerStops().later(400).botFinishes();
    call.callerBegins().sttHears('Ahem.').sttFinalizes().sttHears('Next one.');
    call.callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Short.', 'user: Next one.');
  }),

  dialogue('a voice that comes back before the output goes on is the same candidate', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('A long enough answer.').botPlays(340);
    call.callerBegins().callerStops().later(200).callerBegins().skips();
    call.callerInsists().orders('playout.clear 2', 'tts.cancel 1');
    call.sttHears('Wait').sttFinalizes().sttHears('a moment.').callerStops().silenceEndsTheTurn();
    call.sttFinalizes().llmIsAsked('user: Go.', 'assistant: A long enough', 'user: Wait a moment.');
  }),

  dialogue('an answer that ends while somebody speaks into it leaves a turn behind', (begin) => {
    const call = begin()
      .opens()
      .callerSays('Go.')
      .llmAnswers('Short.')
      .botPlays(Infinity)
      .drains()
      .later(350);
    call.skips().callerBegins().orders('playout.pause', 'stt.listen');
    call.later(50).orders().callerInsists().orders();
    call.sttHears('And now?').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Short.', 'user: And now?');
  }),

  dialogue(
    'when interruptions are off the bot speaks on, and speech that outlasts it becomes a turn',
    (begin) => {
      const interrupt = { ...scriptSettings.interrupt, enabled: false, dtmf: false };
      const call = begin({ settings: { interrupt } })
        .opens()
        .callerSays('Go.')
        .llmAnswers('A short answer.')
        .skips();
      call.callerBegins().callerInsists().callerStops().orders('stt.listen', 'stt.finalize').sttFinalizes();
      call
        .callerBegins()
        .callerInsists()
        .botFinishes()
        .ordered('stt.listen')
        .without('playout.pause', 'playout.clear');
      call.sttHears('Again.').callerStops().silenceEndsTheTurn().sttFinalizes();
      call.llmIsAsked('user: Go.', 'assistant: A short answer.', 'user: Again.');
    },
  ),

  dialogue(
    'a greeting that may not be interrupted is said to its end, and the answer behind it may be',
    (begin) => {
      const greeting = 'Hello, this call is recorded.';
      const interrupt = { ...scriptSettings.interrupt, greeting: false };
      const call = begin({ settings: { greeting, interrupt } }).opens().skips();
      call.callerBegins().callerInsists().callerStops().orders('stt.listen', 'stt.finalize').sttFinalizes();
      call.botFinishes().without('playout.pause', 'playout.clear');
      call.callerSays('Go.').llmAnswers('A long enough answer.').botPlays(340);
      call.callerBegins().ordered('playout.pause').callerInsists().ordered('playout.clear 3');
    },
  ),

  dialogue('after a clear no mark of the cut answer is awaited', (begin) => {
    const call = begin({ echoMs: 100 }).opens().callerSays('Go.').llmAnswers('First part. Second part here.');
    call.botPlays(words('First part. ')).callerBegins().callerInsists().sttHears('Stop.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().llmAnswers('Fine.').botFinishes().skips();
    call.callerBegins().orders('stt.listen');
  }),

  dialogue('a mark that goes out long after its audio does not tell how late the client plays', (begin) => {
    const call = begin({ echoMs: 400 }).opens().callerSays('Hm.').llmAnswers('Yes.').botFinishes();
    call.callerSays('Hm?').llmWrites('One moment please. ').botPlays(Infinity).later(600);
    call.tell({ type: 'mark.sent', id: 'm2' }).tell({ type: 'mark.played', id: 'm2' });
    call.llmAnswers('Alpha beta gamma delta.').botPlays(Infinity).drains();
    call.callerBegins().callerInsists().sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked(
      'user: Hm.',
      'assistant: Yes.',
      'user: Hm?',
      'assistant: One moment please. Alpha beta gamma',
      'user: Stop.',
    );
  }),

  dialogue('an echo of a cut mark says nothing about the new answer', (begin) => {
    const call = begin({ echoMs: 100 }).opens().callerSays('Go.').llmAnswers('First part. Second part here.');
    call.botPlays(words('First part. ')).callerBegins().callerInsists().sttHears('Stop.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().llmAnswers('Fine, later.').botPlays(100);
    call
      .tell({ type: 'mark.played', id: 'm1' })
      .callerBegins()
      .callerInsists()
      .sttHears('Well.')
      .callerStops();
    call.silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: First part.', 'user: Stop.', 'user: Well.');
  }),

  dialogue(
    'a noise while the LLM thinks cuts nothing that anybody misses: the question is still answered',
    (begin) => {
      const call = begin()
        .opens()
        .callerSays('A table for two.')
        .callerBegins()
        .callerInsists()
        .callerStops();
      call.silenceEndsTheTurn().rounds(1).sttFinalizes().rounds(2).llmIsAsked('user: A table for two.');
    },
  ),
];
