/** A farewell that the caller speaks into: whoever has more to say is answered, and nobody else keeps the call open. */
import { dialogue, type Dialogue } from '../support/core/dialogue.ts';
import { say } from '../support/core/given.ts';
import type { Script } from '../support/core/script.ts';

type Begin = Parameters<Dialogue['play']>[0];

const words = 'Thank you for calling us today. Goodbye.';

/** Nobody may interrupt. */
const interrupt = {
  enabled: false,
  minWords: 0,
  wordlessMs: 0,
  resumeAfterMs: 700,
  backchannels: [],
  dtmf: true,
  greeting: false,
};

const leaving = (begin: Begin): Script =>
  begin()
    .opens()
    .callerSays('That is all.')
    .llmWrites(words)
    .llmCalls('end_call')
    .botSays(words)
    .botPlays(600);

export const partings: readonly Dialogue[] = [
  dialogue('one more question cuts the farewell, and is answered', (begin) => {
    const call = leaving(begin).callerSays('Wait, when do you open?').ends(undefined);
    call.llmSees(
      'user: That is all.',
      'assistant: Thank you for -> end_call',
      'end_call: {"ok":true}',
      'user: Wait, when do you open?',
    );
    call.llmAnswers('At nine.').botSays('At nine.').botFinishes().later(5_000).ends(undefined);
    call.callerSays('Thanks, that is it.').llmCalls('end_call').botSays('Goodbye.').botPlays(200).skips();
    call.callerBegins().ordered('playout.pause').callerInsists().ordered('playout.clear 4');
  }),

  dialogue('a farewell that answers what cut the last one is spoken to its end', (begin) => {
    const call = leaving(begin).callerSays('You are all fools!').llmCalls('end_call').botSays('Goodbye.');
    call.botPlays(100).skips().callerBegins().callerInsists().callerStops().presses('1').orders();
    call.botFinishes().ends('ended');
  }),

  dialogue('a goodbye that is returned does not cut the farewell', (begin) => {
    const call = leaving(begin)
      .callerBegins()
      .ordered('playout.pause')
      .sttGuesses('Bye')
      .sttHears('Bye bye, thank you.');
    call.skips().callerStops().sttFinalizes().ordered('playout.resume').without('playout.clear');
    call.botFinishes().rounds(1).ends('ended');
  }),

  dialogue(
    'a voice that was no more than a goodbye ends the call behind the rest of the farewell',
    (begin) => {
      const call = leaving(begin)
        .callerBegins()
        .callerInsists()
        .ordered('playout.clear 2')
        .sttHears('Tschüss!');
      call.callerStops().silenceEndsTheTurn().sttFinalizes().botSays('calling us today. Goodbye.').skips();
      call
        .botPlays(100)
        .callerBegins()
        .callerInsists()
        .without('playout.pause', 'stt.listen', 'playout.clear')
        .botFinishes();
      call.rounds(1).ends('ended');
    },
  ),

  dialogue('nobody hangs up on a caller who begins as the farewell ends', (begin) => {
    const call = leaving(begin).botPlays(Infinity).drains().later(200).callerBegins().skips();
    call.later(100).ends(undefined).callerInsists().sttHears('One more thing.').callerStops();
    call.silenceEndsTheTurn().sttFinalizes().rounds(2).ends(undefined);
  }),

  dialogue('a noise at the end of a farewell keeps no call open', (begin) => {
    const call = leaving(begin)
      .botPlays(Infinity)
      .drains()
      .later(200)
      .callerBegins()
      .later(100)
      .ends(undefined);
    call.callerStops().silenceEndsTheTurn().sttFinalizes().rounds(1).ends('ended');
  }),

  dialogue('where nobody may interrupt, what was said into the farewell is answered behind it', (begin) => {
    const call = begin({ settings: { interrupt } }).opens().callerSays('That is all.').llmWrites(words);
    call
      .llmCalls('end_call')
      .botPlays(600)
      .skips()
      .callerBegins()
      .callerInsists()
      .sttHears('Wait, one question.');
    call.callerStops().sttFinalizes().without('playout.clear', 'playout.pause').botFinishes();
    call.sttFinalizes().rounds(2).ends(undefined);
  }),

  dialogue(
    'a noise of which STT knows nothing when the farewell is over ends the call late, and not never',
    (begin) => {
      const call = begin({ settings: { interrupt } }).opens().callerSays('That is all.').llmWrites(words);
      call.llmCalls('end_call').botPlays(600).callerBegins().callerStops().botFinishes().ends(undefined);
      call.sttFinalizes().ends('ended');
    },
  ),

  dialogue('who comes back to the farewell of an idle call stays', (begin) => {
    const idle = { askAfterMs: 5_000, endAfter: 0, ask: 'Still there?' };
    const call = begin({ settings: { idle } }).opens().later(5_000).botSays('Goodbye.').botPlays(100);
    call.callerSays('I am here, sorry.').rounds(1).ends(undefined);
  }),

  dialogue('who speaks into the end of the last word, behind which a line waits, is heard out', (begin) => {
    const call = leaving(begin).callerSays('Wait, when do you open?').llmWrites('At nine, every day. ');
    call.botPlays(200).callerBegins().sttGuesses('Mm').llmWrites('Goodbye then.').llmCalls('end_call');
    call.sttHears('And on Sunday?').callerStops().sttFinalizes().later(700);
    call
      .tell(say('Your code is four.'))
      .skips()
      .callerBegins()
      .callerInsists()
      .botFinishes()
      .ordered('stt.listen')
      .skips();
    call.later(2_300).orders().ends(undefined);
  }),

  dialogue('another worker knows of a farewell that was cut', (begin) => {
    const call = leaving(begin)
      .callerBegins()
      .callerInsists()
      .workerIsLost()
      .silenceEndsTheTurn()
      .sttFinalizes();
    call.botSays('calling us today. Goodbye.').botFinishes().rounds(1).ends('ended');
  }),
];
