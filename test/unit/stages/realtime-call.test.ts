/** A call whose model hears and speaks by itself: what its session is told, and what the call gets as STT, LLM and TTS. */
import { beforeEach, describe, expect, it } from 'vitest';
import { unwritten } from '../../../worker/core/unwritten.ts';
import type { ChatMessage } from '../../../worker/stages/stage.ts';
import { agent, newCall, prompt, sound, user } from '../../support/core/realtime-call.ts';

let call: ReturnType<typeof newCall>;
beforeEach(() => {
  call = newCall();
});

/** What went to the caller, sounds by their first sample. */
const toCaller = (): string[] =>
  call.spoken.flatMap((event) => {
    if (event.type === 'word') return [];
    if (event.type === 'audio') return [`audio ${event.context}: ${event.pcm[0] ?? ''}`];
    if (event.type === 'spoken') return [`spoken ${event.context}: ${event.chars}`];
    return [event.type === 'error' ? 'error' : `${event.type} ${event.context}`];
  });

/** The model says these words with this sound in answer `answer`. */
function modelSays(answer: number, text: string, first: number, item = `item ${answer}`, samples = 80): void {
  call.model.last.say({ type: 'text', answer, item, text });
  call.model.last.say({ type: 'audio', answer, item, pcm: sound(first, samples) });
}

const done = (answer: number): void => call.model.last.say({ type: 'done', answer, finish: 'completed' });

describe('a turn', () => {
  it('is heard by the model and by STT, and committed when its answer is asked for', () => {
    const question = call.says('what time is it');
    expect(call.stt.sessions[0]?.asked).toEqual(['audio 7 x80', 'finalize']);
    expect(call.model.last.told).toEqual(['begin', 'audio 7']);
    call.start(question);
    expect(call.model.last.told.slice(2)).toEqual(['end', 'respond 1']);
  });

  it('has no noise in it of which STT made no words', () => {
    call.says('', 3);
    const question = call.says('what time is it', 4);
    call.start(question);
    expect(call.model.last.told).toEqual([
      'begin',
      'audio 3',
      'abandon',
      'begin',
      'audio 4',
      'end',
      'respond 1',
    ]);
  });

  it('is kept from the model while the agent may be heard, and then told whole', () => {
    const question = call.says('what time is it');
    call.start(question);
    modelSays(1, 'It is noon.', 9, 'a', 8_000);
    call.voice.speak(1, 'It is noon.');
    call.clock.advance(1);
    call.ears.audio(sound(5));
    call.ears.audio(sound(6));
    expect(call.model.last.told.slice(-1)).toEqual(['respond 1']);
    done(1);
    call.voice.cancel(1);
    call.start(question, agent('It'), call.says('stop', 8));
    expect(call.model.last.told.slice(4)).toEqual([
      'begin',
      'audio 5,6,8',
      'truncate a 181',
      'end',
      'respond 2',
    ]);
  });
});

describe('an answer', () => {
  it('is passed on as it comes: words to the core, its sound to the caller', () => {
    call.start(call.says('what time is it'));
    modelSays(1, 'It is', 1);
    call.voice.speak(4, 'It is');
    modelSays(1, ' noon.', 2);
    call.voice.speak(4, ' noon.');
    done(1);
    call.voice.flush(4);
    call.clock.advance(1);
    expect(call.said.map((event) => (event.type === 'text' ? event.text : event.type))).toEqual([
      'It is',
      ' noon.',
      'done',
    ]);
    expect(toCaller()).toEqual(['audio 4: 1', 'audio 4: 2', 'spoken 4: 11', 'flushed 4']);
    expect(call.tts.sessions[0]?.asked).toEqual([]);
  });

  it('stands behind the line before it, which the TTS speaks', () => {
    call.start(call.says('what time is it'));
    call.voice.speak(1, 'One moment. ');
    modelSays(1, 'It is noon.', 2);
    call.voice.speak(1, 'It is noon.');
    done(1);
    call.voice.flush(1);
    call.clock.advance(1);
    expect(toCaller()).toEqual([]);
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 One moment. ', 'flush 1']);
    call.tts.sessions[0]?.say({ type: 'audio', context: 1, pcm: sound(1) });
    call.tts.sessions[0]?.say({ type: 'flushed', context: 1 });
    call.clock.advance(1);
    expect(toCaller()).toEqual(['audio 1: 1', 'spoken 1: 12', 'audio 1: 2', 'spoken 1: 23', 'flushed 1']);
  });

  it('has its words where they fall into its sound, however much of that waits', () => {
    call.start(call.says('what time is it'));
    call.voice.speak(1, 'One moment. ');
    modelSays(1, 'It is noon', 2, 'a', 800);
    call.voice.speak(1, 'It is noon');
    done(1);
    call.voice.flush(1);
    call.tts.sessions[0]?.say({ type: 'audio', context: 1, pcm: sound(1, 400) });
    call.voice.pause();
    call.tts.sessions[0]?.say({ type: 'flushed', context: 1 });
    call.clock.advance(1);
    const words = call.spoken.flatMap((event) =>
      event.type === 'word' ? [[event.chars, event.startMs]] : [],
    );
    expect(words).toEqual([
      [12, 50],
      [15, 80],
      [18, 110],
    ]);
    expect(toCaller()).toEqual(['audio 1: 1', 'spoken 1: 12']);
    call.voice.resume();
    call.clock.advance(1);
    expect(toCaller().slice(2)).toEqual(['audio 1: 2', 'spoken 1: 22', 'flushed 1']);
  });

  it('that comes without sound is spoken by the TTS', () => {
    call.start(call.says('what time is it'));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'It is noon.' });
    call.voice.speak(1, 'It is noon.');
    done(1);
    call.voice.flush(1);
    call.clock.advance(1);
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 It is noon.', 'flush 1']);
  });

  it('whose sound comes before its words is heard at once', () => {
    call.start(call.says('what time is it'));
    call.model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: sound(1) });
    expect(call.said).toEqual([{ type: 'text', text: ' ' }]);
    call.voice.speak(1, ' ');
    call.clock.advance(1);
    expect(toCaller()).toEqual(['audio 1: 1']);
  });

  it('is written by a model that does not speak, and the TTS says it', () => {
    call = newCall({ modelSpeaks: false });
    call.start(call.says('what time is it'));
    call.model.last.say({ type: 'text', answer: 1, item: 'a', text: 'It is noon.' });
    call.voice.speak(1, 'It is noon.');
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 It is noon.']);
  });

  it('asks for tools, whose results go back once', () => {
    const question = call.says('what time is it');
    call.start(question);
    call.model.last.say({ type: 'tool-call', answer: 1, id: 'c1', name: 'clock', arguments: '{}' });
    done(1);
    expect(call.said).toEqual([
      { type: 'tool-call', index: 0, id: 'c1', name: 'clock', arguments: '{}' },
      { type: 'done', finish: 'tool_calls', usage: undefined },
    ]);
    const calls: ChatMessage[] = [
      { role: 'assistant', text: '', toolCalls: [{ id: 'c1', name: 'clock', arguments: '{}' }] },
      { role: 'tool', callId: 'c1', name: 'clock', text: 'noon' },
    ];
    call.start(question, ...calls);
    modelSays(2, 'It is noon.', 1);
    done(2);
    call.start(question, ...calls.map((one) => ({ ...one })), agent('It is noon.'), call.says('thanks'));
    expect(call.model.last.told.slice(3)).toEqual([
      'respond 1',
      'tool: noon',
      'respond 2',
      'begin',
      'audio 7',
      'end',
      'respond 3',
    ]);
  });
});

describe('what the model is charged for', () => {
  const usage = {
    ...{ inputTokens: 9, outputTokens: 40, cachedTokens: 0, inputAudioTokens: 9 },
    ...{ outputAudioTokens: 40, cachedAudioTokens: 0, reasoningTokens: 0 },
  };

  it('is each turn, and each answer in its session', () => {
    call.model.last.say({ type: 'ready', caps: call.model.caps, session: 'sess_1' });
    call.start(call.says('what time is it'));
    call.clock.advance(30);
    modelSays(1, 'Noon.', 1);
    call.model.last.say({ type: 'done', answer: 1, finish: 'completed', usage });
    expect(call.figures).toEqual([
      'audio_seconds 0.005',
      'asked in sess_1',
      'began after 30',
      'input_tokens 9',
      'output_tokens 40',
      'cached_tokens 0',
      'reasoning_tokens 0',
      'text_input_tokens 0',
      'audio_input_tokens 9',
      'text_output_tokens 0',
      'audio_output_tokens 40',
      'text_cached_tokens 0',
      'audio_cached_tokens 0',
    ]);
  });

  it('is an answer that was cancelled, too', () => {
    call.start(call.says('what time is it')).cancel();
    call.model.last.say({ type: 'done', answer: 1, finish: 'cancelled', usage });
    expect(call.figures).toContain('output_tokens 40 late');
    expect(call.said).toEqual([]);
  });
});

describe('lines and typed words', () => {
  it('enter the session as text', () => {
    call.start(agent('Hello, how can I help?'), user('typed words'));
    expect(call.model.last.told).toEqual([
      'assistant: Hello, how can I help?',
      'user: typed words',
      'respond 1',
    ]);
  });
});

describe('a session that ends', () => {
  it('before anything of an answer came is followed by one that hears the turn again', () => {
    const question = call.says('what time is it');
    call.start(agent('Hello.'), question);
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    expect(call.model.last.seed.history).toEqual([agent('Hello.')]);
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 2']);
    modelSays(2, 'It is noon.', 1);
    done(2);
    expect(call.said.at(-1)).toMatchObject({ type: 'done', finish: 'stop' });
  });

  it('twice within ten seconds leaves the call to the other providers', () => {
    call.start(call.says('what time is it'));
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.failures).toEqual(['disconnected', 'disconnected', 'fell back']);
    call.llm.rounds[0]?.say({ type: 'text', text: 'It is noon.' });
    call.voice.speak(1, 'It is noon.');
    expect(call.tts.sessions[0]?.asked).toEqual(['speak 1 It is noon.']);
    call.start(user('and tomorrow'));
    expect(call.llm.rounds).toHaveLength(2);
  });

  it('for a reason that stays is not tried again', () => {
    call.model.last.say({ type: 'error', error: { kind: 'rejected', status: 401 } });
    call.start(call.says('what time is it'));
    expect(call.model.sessions).toHaveLength(1);
    expect(call.llm.rounds).toHaveLength(1);
  });

  it('in the middle of an answer is told as the failure of that', () => {
    const question = call.says('what time is it');
    call.start(question);
    modelSays(1, 'It is', 1);
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.said.at(-1)).toMatchObject({ type: 'error' });
    expect(call.model.sessions).toHaveLength(2);
    // What was heard of it is told with the next question, and nothing else.
    expect(call.model.last.seed.history).toEqual([question]);
    call.start(question, agent('It'), call.says('sorry?', 9));
    expect(call.model.last.told).toEqual(['begin', 'audio 9', 'assistant: It', 'end', 'respond 2']);
  });

  it('in the middle of an answer that another goes on with holds its beginning once', () => {
    const question = call.says('what time is it');
    call.start(question);
    modelSays(1, 'It is', 1);
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    call.start(question, agent('It is'), { role: 'system', text: 'Go on.' });
    modelSays(2, 'noon in Rome.', 1);
    done(2);
    call.clock.advance(9_000);
    call.start(question, agent('It is noon in Rome.'), call.says('thanks', 9));
    expect(call.model.last.told).toEqual([
      'assistant: It is',
      'system: Go on.',
      'respond 2',
      'begin',
      'audio 9',
      'end',
      'respond 3',
    ]);
  });

  it('at a known time is replaced before that, in a quiet moment, by one that is ready', () => {
    call.model.ready(100_000);
    const question = call.says('what time is it');
    call.start(question);
    modelSays(1, 'It is noon.', 1);
    done(1);
    const answer = call.hears('It is noon.');
    call.clock.advance(89_000);
    expect(call.model.sessions).toHaveLength(1);
    call.clock.advance(2_000);
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([false, false]);
    expect(call.model.last.seed.history).toEqual([user('what time is it'), agent('It is noon.')]);
    call.model.ready(100_000);
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    call.start(question, answer, call.says('thanks'));
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 2']);
  });
});

describe('a session that another can go on from', () => {
  let question: ChatMessage;
  let answer: ChatMessage;
  beforeEach(() => {
    call.model.ready(600_000);
    question = call.says('what time is it');
    call.start(question);
    modelSays(1, 'It is noon.', 1);
    done(1);
    answer = call.hears('It is noon.');
    call.clock.advance(10_000);
    call.model.last.say({ type: 'resumable', handle: 'h1' });
  });
  const next = (): void => {
    call.start(question, answer, call.says('thanks'));
  };

  it('is over before the other begins, which holds all that it held', () => {
    call.model.last.say({ type: 'expiring', inMs: 50_000 });
    call.clock.advance(1);
    expect(call.model.sessions.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    expect(call.model.last.seed).toEqual({
      instructions: 'You are a clerk.',
      tools: [],
      history: [],
      resume: 'h1',
    });
    call.model.ready(600_000);
    next();
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 2']);
  });

  it('is gone on from where its connection is lost, with the turn that was begun', () => {
    call.ears.audio(sound(3));
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.last.seed.resume).toBe('h1');
    next();
    expect(call.model.last.told).toEqual(['begin', 'audio 3,7', 'end', 'respond 2']);
  });

  it('is not gone on from where more was said in it', () => {
    next();
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.last.seed).not.toHaveProperty('resume');
    expect(call.model.last.seed.history).toEqual([question, answer]);
  });

  it('is told again where the handle is refused, which is held against nobody', () => {
    for (const handle of ['h2', 'h3', 'h4']) {
      call.model.last.say({ type: 'resumable', handle });
      call.model.last.say({ type: 'expiring', inMs: 50_000 });
      call.clock.advance(1);
      expect(call.model.last.seed.resume).toBe(handle);
      call.model.last.say({ type: 'error', error: { kind: 'rejected', status: 400 } });
      expect(call.model.last.seed.history).toEqual([question, answer]);
      call.model.ready(600_000);
    }
    expect(call.failures).toEqual(['rejected_client', 'rejected_client', 'rejected_client']);
    next();
    expect(call.model.last.told).toContain('respond 2');
  });
});

it.each(['vendor', 'model'] as const)(
  'a model that leaves no turns to us (%s) is refused, and others answer',
  (turns) => {
    call = newCall({ caps: { turns } });
    expect(call.model.last.isClosed).toBe(true);
    call.start(call.says('what time is it'));
    expect(call.model.sessions).toHaveLength(1);
    expect(call.llm.rounds).toHaveLength(1);
    expect(call.failures).toEqual(['rejected_server', 'fell back']);
  },
);

describe('a model that is silent', () => {
  it('is asked once more, and then another provider answers', () => {
    call.start(call.says('what time is it'));
    call.clock.advance(2_600);
    expect(call.model.last.told.slice(-2)).toEqual(['cancel', 'respond 2']);
    call.clock.advance(2_600);
    expect(call.failures).toEqual(['timeout', 'fell back']);
    expect(call.llm.rounds).toHaveLength(1);
    expect(call.model.sessions).toHaveLength(2);
  });
});

describe('another prompt or other tools', () => {
  it('are told to a session that can change', () => {
    call.mind.start(
      { messages: [{ role: 'system', text: 'Be brief.' }, call.says('hello')], tools: [] },
      () => undefined,
    );
    expect(call.model.last.told).toContain('update Be brief.');
  });

  it('take a new session where it cannot', () => {
    call = newCall({ caps: { updates: false } });
    call.mind.start(
      { messages: [{ role: 'system', text: 'Be brief.' }, call.says('hello')], tools: [] },
      () => undefined,
    );
    expect(call.model.sessions).toHaveLength(2);
    expect(call.model.last.seed.instructions).toBe('Be brief.');
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 1']);
  });
});

describe('words that the model writes down', () => {
  const note = user(unwritten);
  /** The caller speaks for so long. */
  const speaks = (ms: number): void => {
    call.ears.audio(sound(7, ms * 16));
    call.ears.finalize();
    call.clock.advance(1);
  };

  beforeEach(() => {
    call = newCall({ words: 'vendor' });
  });

  it('come later, and the turn is asked for without them', () => {
    speaks(900);
    expect(call.heard.map((event) => ('text' in event ? event.text : event.type))).toEqual([
      unwritten,
      'finalized',
    ]);
    expect(call.stt.sessions).toHaveLength(0);
    call.start(note);
    call.model.last.say({ type: 'user-text', turn: 1, text: 'what time is it', final: true });
    expect(call.heard.at(-1)).toEqual({ type: 'written', text: 'what time is it' });
    modelSays(1, 'It is noon.', 1);
    done(1);
    call.clock.advance(9_000);
    speaks(900);
    call.start(user('what time is it'), agent('It is noon.'), { ...note });
    expect(call.model.last.told).toEqual([
      'begin',
      'audio 7',
      'end',
      'respond 1',
      'begin',
      'audio 7',
      'end',
      'respond 2',
    ]);
  });

  it('are told to a session that follows, once they are known', () => {
    call.model.ready(100_000);
    speaks(900);
    call.start(note);
    modelSays(1, 'It is noon.', 1);
    done(1);
    const answer = call.hears('It is noon.');
    call.model.last.say({ type: 'user-text', turn: 1, text: 'what time is it', final: true });
    call.clock.advance(95_000);
    call.model.ready(100_000);
    expect(call.model.last.seed.history).toEqual([user('what time is it'), answer]);
    speaks(900);
    call.start(user('what time is it'), answer, { ...note });
    expect(call.model.last.told).toEqual(['begin', 'audio 7', 'end', 'respond 2']);
  });

  it('that a session was opened without are told to another', () => {
    call.model.ready(100_000);
    speaks(900);
    call.start(note);
    modelSays(1, 'It is noon.', 1);
    done(1);
    const answer = call.hears('It is noon.');
    call.model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    expect(call.model.last.seed.history).toEqual([note, answer]);
    call.clock.advance(3_100);
    speaks(900);
    call.start(user('[inaudible]'), answer, { ...note });
    expect(call.model.last.seed.history).toEqual([user('[inaudible]'), answer]);
  });

  it('are told in the order of the turns, and not waited for without end', () => {
    for (const turn of [1, 2]) {
      speaks(900);
      call.start(...Array.from({ length: turn }, () => ({ ...note })));
      done(turn);
    }
    call.model.last.say({ type: 'user-text', turn: 2, text: 'and now', final: true });
    expect(call.heard.filter(({ type }) => type === 'written')).toEqual([]);
    call.clock.advance(3_000);
    expect(call.heard.filter(({ type }) => type === 'written')).toEqual([
      { type: 'written', text: '[inaudible]' },
      { type: 'written', text: 'and now' },
    ]);
    call.model.last.say({ type: 'user-text', turn: 1, text: 'too late', final: true });
    expect(call.heard.filter(({ type }) => type === 'written')).toHaveLength(2);
  });

  it('are no turn where a cough was all', () => {
    speaks(400);
    expect(call.heard).toEqual([{ type: 'finalized' }]);
  });

  it('are a turn where the agent was silenced, though all of its answer had come', () => {
    speaks(900);
    call.start(note);
    modelSays(1, 'Once upon a time.', 1, 'a', 80_000);
    call.voice.speak(1, 'Once upon a time.');
    done(1);
    call.voice.flush(1);
    call.clock.advance(1_000);
    const before = call.heard.length;
    speaks(900);
    expect(call.heard.slice(before)).toEqual([{ type: 'finalized' }]);
    call.voice.silenced?.();
    speaks(900);
    expect(call.heard.slice(before + 1).map(({ type }) => type)).toEqual(['transcript', 'finalized']);
  });

  it('are written by STT where another provider answers', () => {
    speaks(900);
    call.start(note);
    call.model.last.say({ type: 'error', error: { kind: 'rejected', status: 401 } });
    const stt = call.stt.sessions[0];
    expect(stt?.asked).toEqual(['audio 7 x14400', 'finalize']);
    stt?.say({
      type: 'transcript',
      text: 'what time is it',
      isFinal: true,
      speechFinal: true,
      fromFinalize: true,
    });
    stt?.say({ type: 'finalized' });
    expect(call.llm.rounds[0]?.request.messages).toEqual([prompt, user('what time is it')]);
    expect(call.heard.at(-1)).toEqual({ type: 'written', text: 'what time is it' });
    call.ears.audio(sound(8));
    expect(call.stt.sessions[1]?.asked).toEqual(['audio 8 x80']);
  });
});
