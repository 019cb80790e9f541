/** What the context keeps of an answer that was cut, by what is known of how it was heard. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';
import type { Script } from '../../support/core/script.ts';

const answer = 'Alpha beta gamma delta.';

const answering = (begin: Parameters<Dialogue['play']>[0]): Script =>
  begin().opens().callerSays('Go.').llmAnswers(answer);

/** The caller cuts in; the LLM is then asked with what was heard. */
const cut = (call: Script, heard: string): Script =>
  call
    .callerBegins()
    .callerInsists()
    .sttHears('Stop.')
    .callerStops()
    .silenceEndsTheTurn()
    .sttFinalizes()
    .llmIsAsked('user: Go.', ...(heard === '' ? [] : [`assistant: ${heard}`]), 'user: Stop.');

/** TTS says when each word begins. */
const wordTimes = (call: Script, starts: readonly number[]): Script => {
  let chars = 0;
  for (const [index, word] of answer.split(' ').entries()) {
    call.tell({ type: 'tts.word', context: call.context, chars, startMs: starts[index] ?? 0 });
    chars += word.length + 1;
  }
  return call;
};

export const heard: readonly Dialogue[] = [
  dialogue('what the transport acknowledged counts, not what was sent', (begin) => {
    const call = answering(begin).botPlays(18 * msPerChar);
    call.tell({ type: 'playout.acknowledged', context: call.context, playedMs: 100 });
    cut(call, 'Alpha');
  }),

  dialogue('the client has played on since its acknowledgement, but no more than was sent', (begin) => {
    const call = answering(begin).botPlays(6 * msPerChar);
    call.tell({ type: 'playout.acknowledged', context: call.context, playedMs: msPerChar }).callerBegins();
    call.later(2_000).callerInsists().sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha', 'user: Stop.');
  }),

  dialogue('an acknowledgement that goes backwards is none', (begin) => {
    const call = answering(begin).botPlays(12 * msPerChar);
    call.tell({ type: 'playout.acknowledged', context: call.context, playedMs: 600 });
    call.tell({ type: 'playout.acknowledged', context: call.context, playedMs: 10 });
    cut(call, 'Alpha beta');
  }),

  dialogue('times of words go before an estimate', (begin) => {
    const call = answering(begin);
    wordTimes(call, [0, 200, 300, 900]).botPlays(450);
    cut(call, 'Alpha beta');
  }),

  dialogue('a word that has begun is not heard before the next one has', (begin) => {
    const call = answering(begin);
    wordTimes(call, [0, 200, 300, 900]).botPlays(899);
    cut(call, 'Alpha beta');
    const other = answering(begin);
    wordTimes(other, [0, 200, 300, 900]).botPlays(901);
    cut(other, 'Alpha beta gamma');
  }),

  dialogue('words out of order are left out', (begin) => {
    const call = answering(begin);
    wordTimes(call, [0, 200, 100, 900]).botPlays(450);
    cut(call, 'Alpha');
  }),

  dialogue('where the times of words stop, what follows is estimated', (begin) => {
    const call = answering(begin).skips();
    call.tell({ type: 'tts.word', context: call.context, chars: 0, startMs: 0 });
    call.tell({ type: 'playout.started', context: call.context, audioAt: 0 }).callerBegins();
    call.tell({ type: 'speech.confirmed', position: { context: call.context, sentMs: 1_600 } });
    call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma delta.', 'user: Stop.');
  }),

  dialogue('times of words are those of what was said, also where it is written differently', (begin) => {
    const call = begin({ settings: { pronounce: { SQL: 'sequel' } } })
      .opens()
      .callerSays('Go.');
    call.llmAnswers('SQL is old now.');
    for (const [chars, startMs] of [
      [0, 0],
      [7, 100],
      [10, 200],
      [14, 300],
    ] as const)
      call.tell({ type: 'tts.word', context: call.context, chars, startMs });
    call.botPlays(250);
    cut(call, 'SQL is');
  }),

  dialogue(
    'a word that is said as several is heard when the next one begins, wherever it stands',
    (begin) => {
      const call = begin({ settings: { pronounce: { SQL: 'structured query language' } } })
        .opens()
        .callerSays('Go.')
        .llmAnswers('SQL and XML are old.');
      for (const [index, chars] of [0, 11, 17, 26, 30, 34, 38].entries())
        call.tell({ type: 'tts.word', context: call.context, chars, startMs: index * 100 });
      call.botPlays(450);
      cut(call, 'SQL and');
    },
  ),

  dialogue('a sentence that an estimate has only just reached has not begun', (begin) => {
    for (const [chars, kept] of [
      [27, 'Alpha beta gamma delta.'],
      [31, 'Alpha beta gamma delta. It is'],
    ] as const) {
      const call = begin().opens().callerSays('Go.').llmAnswers('Alpha beta gamma delta. It is not so.');
      const { context } = call;
      call.tell({ type: 'playout.started', context, audioAt: 0 }).callerBegins();
      call.tell({ type: 'speech.confirmed', position: { context, sentMs: 65 * chars } });
      call.sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
      call.llmIsAsked('user: Go.', `assistant: ${kept}`, 'user: Stop.');
    }
  }),
];
