/** What the context keeps of an answer that was cut, by what is known of how it was heard. */
import { dialogue, type Dialogue } from '../../support/core/dialogue.ts';
import { msPerChar } from '../../support/core/scripted-audio.ts';
import type { Script } from '../../support/core/script.ts';

const answer = 'Alpha beta gamma delta.';

const answering = (begin: Parameters<Dialogue['play']>[0]): Script =>
  begin().opens().callerSays('Go.').llmAnswers(answer);

/** The agent goes on softly until a voice has lasted so long that it interrupts. */
const softlyMs = 250;

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

const told = 'It is one of them. It is two of them. That is all.';

/** An answer of three pieces is played to its end by a client that echoes their marks so late. */
function began(begin: Parameters<Dialogue['play']>[0], echoMs: number, lastMs = echoMs): Script {
  const call = begin({ echoMs }).opens().callerSays('Go.').llmAnswers(told).botPlays(2_100).losesEchoes();
  return call.botPlays(Infinity).drains().later(lastMs).tell({ type: 'mark.played', id: 'm3' });
}

/** The caller cuts in at once; the LLM is then asked with what was heard of the newest answer. */
function cutThere(call: Script, heard: string): void {
  call.callerBegins().callerInsists().sttHears('Stop.').callerStops().silenceEndsTheTurn().sttFinalizes();
  call.llmIsAsked(
    'user: Go.',
    `assistant: ${told}`,
    'user: And?',
    ...(heard === '' ? [] : [`assistant: ${heard}`]),
    'user: Stop.',
  );
}

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
    // Two words were sent before the caller began, one more was heard softly.
    call.llmIsAsked('user: Go.', 'assistant: Alpha beta gamma', 'user: Stop.');
  }),

  dialogue('an acknowledgement that goes backwards is none', (begin) => {
    const call = answering(begin).botPlays(12 * msPerChar);
    call.tell({ type: 'playout.acknowledged', context: call.context, playedMs: 600 });
    call.tell({ type: 'playout.acknowledged', context: call.context, playedMs: 10 });
    cut(call, 'Alpha beta gamma');
  }),

  dialogue('times of words go before an estimate', (begin) => {
    const call = answering(begin);
    wordTimes(call, [0, 200, 300, 900]).botPlays(450);
    cut(call, 'Alpha beta');
  }),

  dialogue('a word that has begun is not heard before the next one has', (begin) => {
    const call = answering(begin);
    wordTimes(call, [0, 200, 300, 900]).botPlays(899 - softlyMs);
    cut(call, 'Alpha beta');
    const other = answering(begin);
    wordTimes(other, [0, 200, 300, 900]).botPlays(901 - softlyMs);
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
    cut(call, 'SQL is old');
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
      cut(call, 'SQL and XML are');
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

  dialogue('how late a client echoes is no part of what it has in store', (begin) => {
    const call = began(begin, 700);
    // Behind an answer that was played to its end nothing is left to play: what an echo takes now it always takes.
    call.ordered('playout.mark m4').tell({ type: 'mark.sent', id: 'm4' });
    call.later(600).tell({ type: 'mark.played', id: 'm4' });
    call
      .callerSays('And?')
      .llmAnswers(answer)
      .botPlays(18 * msPerChar);
    cutThere(call, 'Alpha beta gamma');
  }),

  dialogue('a client that has as much in store as its echoes come late has not played it', (begin) => {
    const call = began(begin, 700);
    call.ordered('playout.mark m4').tell({ type: 'mark.sent', id: 'm4' });
    call.later(20).tell({ type: 'mark.played', id: 'm4' });
    call
      .callerSays('And?')
      .llmAnswers(answer)
      .botPlays(18 * msPerChar);
    cutThere(call, 'Alpha');
  }),

  dialogue(
    'an echo that comes late by chance does not count, the earliest of the newest few does',
    (begin) => {
      const call = began(begin, 100, 900);
      call
        .callerSays('And?')
        .llmAnswers(answer)
        .botPlays(18 * msPerChar);
      cutThere(call, 'Alpha beta gamma');
    },
  ),

  dialogue('a client whose echoes come soon is sent no mark that nobody needs', (begin) => {
    began(begin, 100).orders(
      ...['stt.listen', 'stt.finalize', 'playout.open 1', 'llm.start 1'],
      ...['tts.speak 1 "It is one of them. "', 'tts.speak 1 "It is two of them. "'],
      ...['tts.speak 1 "That is all."', 'tts.flush 1'],
      ...['playout.mark m1', 'playout.mark m2', 'playout.mark m3', 'turn.measured'],
    );
  }),

  dialogue('the echo of a mark within a piece tells what the client has in store', (begin) => {
    const call = answering(begin).botPlays(8 * msPerChar);
    const { context } = call;
    call.tell({ type: 'mark.sent', id: 'i1', inside: { context, atMs: 8 * msPerChar } });
    call.botPlays(14 * msPerChar).tell({ type: 'mark.played', id: 'i1' });
    cut(call, 'Alpha');
  }),

  dialogue('nothing is heard behind a mark within a piece whose echo is missing', (begin) => {
    const call = answering(begin).botPlays(2 * msPerChar);
    const { context } = call;
    call.tell({ type: 'mark.sent', id: 'i1', inside: { context, atMs: 2 * msPerChar } });
    call.tell({ type: 'mark.played', id: 'i1' }).botPlays(10 * msPerChar);
    call.tell({ type: 'mark.sent', id: 'i2', inside: { context, atMs: 12 * msPerChar } });
    call.botPlays(10 * msPerChar);
    cut(call, 'Alpha beta');
  }),

  dialogue('the echo of a mark behind a gap comes too soon to tell what the client has in store', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers(`${answer} Epsilon zeta eta theta iota.`);
    call.botPlays(8 * msPerChar);
    const { context } = call;
    call.tell({ type: 'mark.sent', id: 'i1', inside: { context, atMs: 8 * msPerChar } });
    call
      .botPlays(14 * msPerChar)
      .tell({ type: 'mark.played', id: 'i1' })
      .botPlays(2 * msPerChar);
    call.tell({ type: 'playout.starved', context, sentMs: 24 * msPerChar }).later(600);
    call.tell({ type: 'mark.sent', id: 'i2', inside: { context, atMs: 24 * msPerChar } });
    call.later(100).tell({ type: 'mark.played', id: 'i2' }).tell({ type: 'playout.fed', context });
    call.botPlays(18 * msPerChar);
    cut(call, 'Alpha beta gamma delta. Epsilon');
  }),

  dialogue('markup is not said, and the conversation keeps what was written', (begin) => {
    const written = '- **Alpha** beta.\n---\n😀';
    const call = begin().opens().callerSays('Go.').skips().llmAnswers(written).botSays('Alpha beta.\n');
    call.botFinishes().callerSays('And?').llmIsAsked('user: Go.', `assistant: ${written}`, 'user: And?');
  }),

  dialogue('what is estimated of an answer with markup is no more than was heard', (begin) => {
    const call = begin().opens().callerSays('Go.').llmAnswers('- **Alpha** beta gamma delta epsilon.');
    call.botPlays(16 * msPerChar).callerSays('Stop.');
    call.llmIsAsked('user: Go.', 'assistant: - **Alpha** beta gamma', 'user: Stop.');
  }),

  dialogue('an answer in which there is nothing to say is none', (begin) => {
    const call = begin().opens().callerSays('Go.').skips().llmAnswers('😀👍');
    call.ordered('fault llm empty');
  }),
];
