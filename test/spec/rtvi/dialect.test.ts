/** RTVI over WebSocket, row by row: the frames, the handshake, what clients send and what they are told (decision 0047). */
import { describe, expect, it } from 'vitest';
import { decodeRtviFrame, encodeRtviAudio, encodeRtviMessage } from '../../../shared/rtvi/frame.ts';
import { formatOf, keysOf } from '../../../shared/rtvi/messages.ts';
import { eventsOf } from '../../../supervisor/rtvi/listener.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import { newCallerAudio } from '../../../worker/rtvi/caller-audio.ts';
import { rtviDialect } from '../../../worker/rtvi/dialect.ts';
import type { MessageToClient } from '../../../shared/protocol/beside-the-call.ts';
import type { Outgoing, SocketDialect } from '../../../worker/transports/socket/dialect.ts';

const newDialect = (saved?: unknown, signedMetadata: Readonly<Record<string, string>> = {}): SocketDialect =>
  rtviDialect(newCallerAudio)({ signedMetadata, wallNow: () => Date.UTC(2026, 0, 2, 3, 4, 5), saved });

const request = (type: string, data: object = {}, id = 'ab12cd34'): string =>
  JSON.stringify({ label: 'rtvi-ai', id, type, data });

/** What a frame of the service says. */
function said(frame: Outgoing | undefined): Record<string, unknown> {
  const decoded = frame === undefined ? undefined : decodeRtviFrame(Buffer.from(frame as Buffer));
  if (decoded?.type !== 'message') throw new Error('no message');
  return JSON.parse(Buffer.from(decoded.json).toString()) as Record<string, unknown>;
}

const told = (dialect: SocketDialect, ...events: ConversationEvent[]): Record<string, unknown>[] =>
  events.flatMap((event) => [...(dialect.tell?.(event) ?? [])]).map(said);

const typesOf = (messages: readonly Record<string, unknown>[]): unknown[] => messages.map(({ type }) => type);

/** A dialect whose client is ready. */
function ready(version = '2.1.0', signedMetadata: Readonly<Record<string, string>> = {}): SocketDialect {
  const dialect = newDialect(undefined, signedMetadata);
  dialect.hear(request('client-ready', { version }));
  return dialect;
}

describe('frames', () => {
  it('the bytes of a message are those that protobuf makes', () => {
    expect(encodeRtviMessage('{"label":"rtvi-ai"}').toString('hex')).toBe(
      '22150a137b226c6162656c223a22727476692d6169227d',
    );
  });

  it('the bytes of audio are those that protobuf makes', () => {
    const frame = encodeRtviAudio(Buffer.from([1, 0, 2, 0]), 24_000);
    expect(frame.toString('hex')).toBe('12131205617564696f1a040100020020c0bb012801');
  });

  it('fields come in any order, unknown ones are skipped, and a 64-bit id is none of our business', () => {
    const frame = new Uint8Array(
      Buffer.from(
        '121d28013a03616263' + '20c0bb01' + '08ffffffffffffffff7f' + '1a0401000200' + '3001',
        'hex',
      ),
    );
    expect(decodeRtviFrame(frame)).toEqual({
      type: 'audio',
      samples: new Uint8Array([1, 0, 2, 0]),
      sampleRate: 24_000,
      channels: 1,
    });
  });

  it.each([
    ['a length that is not there', '22ff'],
    ['a varint without an end', '12ffffffffffffffffffffff'],
    ['field 0', '0201'],
  ])('%s is no frame', (_, hex) => {
    expect(decodeRtviFrame(Buffer.from(hex, 'hex'))).toBeUndefined();
    expect(newDialect().unpack?.(Buffer.from(hex, 'hex'))).toEqual({ type: 'broken' });
  });

  it('kinds that nobody reads do nothing', () => {
    expect(newDialect().unpack?.(Buffer.from('0a00', 'hex'))).toEqual({ type: 'nothing' });
  });
});

describe('the handshake', () => {
  it('client-ready opens a call of 24 kHz whose caller has 16 kHz, and bot-ready has its id', () => {
    const dialect = newDialect();
    const heard = dialect.hear(request('client-ready', { version: '2.1.0' }));
    expect(heard).toMatchObject({
      type: 'message',
      message: { type: 'start', fields: { ok: true, value: { sampleRate: 24_000, inputRate: 16_000 } } },
    });
    const started = {
      type: 'started',
      version: 1,
      call_id: 'c',
      sample_rate: 24_000,
      encoding: 'pcm16',
    } as const;
    expect(said(dialect.write(started))).toMatchObject({
      label: 'rtvi-ai',
      type: 'bot-ready',
      id: 'ab12cd34',
      data: { version: '2.1.0' },
    });
  });

  it('a second one is answered again and starts nothing', () => {
    const heard = ready().hear(request('client-ready', { version: '2.1.0' }, 'second'));
    expect(heard.type === 'answer' && said(heard.frame)).toMatchObject({ type: 'bot-ready', id: 'second' });
  });

  it('a client of version 1 is answered with its own version', () => {
    const dialect = ready('1.3.0');
    const started = {
      type: 'started',
      version: 1,
      call_id: 'c',
      sample_rate: 24_000,
      encoding: 'pcm16',
    } as const;
    expect(said(dialect.write(started))).toMatchObject({ data: { version: '1.3.0' } });
  });

  it.each([['3.0.0'], ['2'], [undefined]])(
    'of another version (%s) it is told so, and the call goes on',
    (version) => {
      const heard = newDialect().hear(request('client-ready', { version }));
      const all = heard.type === 'several' ? heard.all : [];
      expect(all.map(({ type }) => type)).toEqual(['answer', 'message']);
      expect(all[0]?.type === 'answer' && said(all[0].frame)).toMatchObject({
        type: 'error-response',
        id: 'ab12cd34',
      });
    },
  );

  it.each(['send-text', 'append-to-context', 'dtmf', 'ui-event'])(
    'refuses %s before client-ready',
    (type) => {
      const heard = newDialect().hear(request(type, { content: 'Hello', role: 'user', button: '1' }));
      expect(heard.type === 'answer' && said(heard.frame)).toMatchObject({
        ...{ type: 'error-response', id: 'ab12cd34' },
        data: { error: 'client-ready must be the first message' },
      });
    },
  );

  it('what is late is named as the protocol names it', () => {
    const late = {
      type: 'error',
      code: 'start_timeout',
      message: 'no start arrived in time',
      fatal: true,
    } as const;
    expect(said(newDialect().write(late))).toMatchObject({
      data: { error: 'no client-ready arrived in time' },
    });
  });

  it.each([
    ['2.1.0', 2],
    ['2.0.0', 2],
    ['1.4.0', 1],
    ['0.4.0', undefined],
    ['1.2', undefined],
    [2, undefined],
  ])('version %s has format %s', (version, format) => expect(formatOf(version)).toBe(format));

  it('the listener may set another rate for what the client plays', () => {
    const heard = newDialect(undefined, { output_sample_rate: '16000' }).hear(
      request('client-ready', { version: '2.1.0' }),
    );
    expect(heard).toMatchObject({ message: { fields: { value: { sampleRate: 16_000 } } } });
  });
});

describe("the caller's audio", () => {
  const audio = (samples: number[], rate: number): Buffer =>
    encodeRtviAudio(Buffer.from(Int16Array.from(samples).buffer), rate);

  it('is taken as it is at 16 kHz, and not before the client is ready', () => {
    expect(newDialect().unpack?.(audio([1, 2], 16_000))).toEqual({ type: 'nothing' });
    expect(ready().unpack?.(audio([1, 2], 16_000))).toEqual({
      type: 'audio',
      bytes: Buffer.from([1, 0, 2, 0]),
    });
  });

  it('is brought to 16 kHz from another rate', () => {
    const unpacked = ready().unpack?.(
      audio(
        Array.from({ length: 480 }, () => 0),
        48_000,
      ),
    );
    expect(unpacked?.type === 'audio' && unpacked.bytes.length).toBe(320);
  });

  const asText = (data: object): string => request('raw-audio', { base64Audio: 'AAAA', ...data });
  it.each([
    ['an odd number of bytes', encodeRtviAudio(Buffer.alloc(3), 16_000)],
    ['a rate that no call has', encodeRtviAudio(Buffer.alloc(4), 12_345)],
    ['half a channel', asText({ sampleRate: 16_000, numChannels: 1.5 })],
    ['a rate as text that no call has', asText({ sampleRate: 96_000, numChannels: 1 })],
  ])('%s is left out, and the client is told once what can be read', (_, frame) => {
    const dialect = ready();
    const come = () => (typeof frame === 'string' ? dialect.hearAudio?.(frame) : dialect.unpack?.(frame));
    const first = come();
    expect(first?.type === 'answer' && said(first.frame)).toEqual({
      ...{ label: 'rtvi-ai', type: 'error' },
      data: {
        error: 'audio must be 16-bit PCM of at most 8 channels at 8000, 16000, 22050, 24000, 44100, 48000 Hz',
        fatal: false,
      },
    });
    expect(come()).toEqual({ type: 'nothing' });
  });
});

describe('what clients send', () => {
  it.each([
    ['nothing said of it', undefined, 'speech'],
    ['run_immediately false', { run_immediately: false }, 'none'],
    ['audio_response false', { audio_response: false }, 'text'],
  ])('send-text with %s', (_, options, answer) => {
    expect(ready().hear(request('send-text', { content: 'Hello', options }))).toEqual({
      type: 'message',
      message: { type: 'text', typed: { ok: true, value: { text: 'Hello', answer } } },
    });
  });

  it.each([
    ['2.1', { buttons: ['1', '#'] }, ['1', '#']],
    ['2.0', { button: '5' }, ['5']],
    ['no key', { buttons: ['A'] }, undefined],
    ['none', { buttons: [] }, undefined],
  ])('dtmf of %s', (_, data, keys) => expect(keysOf(data)).toEqual(keys));

  it('disconnect-bot hangs up', () => {
    expect(ready().hear(request('disconnect-bot'))).toEqual({ type: 'message', message: { type: 'stop' } });
  });

  it('append-to-context is remembered and answered', () => {
    const heard = ready().hear(request('append-to-context', { role: 'user', content: 'I am Ann' }));
    const all = heard.type === 'several' ? heard.all : [];
    expect(all[0]).toMatchObject({ message: { type: 'text', typed: { value: { answer: 'none' } } } });
    expect(all[1]?.type === 'answer' && said(all[1].frame)).toMatchObject({
      type: 'server-response',
      id: 'ab12cd34',
    });
  });

  it.each([['llm-function-call-result'], ['ui-event'], ['send-file'], ['describe-config']])(
    '%s is answered by an error of its id',
    (type) => {
      const heard = ready().hear(request(type, { t: 'x' }));
      expect(heard.type === 'answer' && said(heard.frame)).toEqual({
        label: 'rtvi-ai',
        type: 'error-response',
        id: 'ab12cd34',
        data: { error: `Unsupported type ${type}` },
      });
    },
  );

  it('client-message is for the agent, and answered by an error of its id where there is none', () => {
    const heard = ready().hear(request('client-message', { t: 'cart', d: { items: [1] } }));
    expect(heard).toMatchObject({
      type: 'to-agent',
      message: { name: 'cart', id: 'ab12cd34', data: { items: [1] } },
    });
    expect(heard.type === 'to-agent' && said(heard.unheard)).toMatchObject({
      type: 'error-response',
      id: 'ab12cd34',
    });
    const nameless = ready().hear(request('client-message', { d: 1 }));
    expect(nameless.type === 'answer' && said(nameless.frame)).toMatchObject({ type: 'error-response' });
  });

  it('what the agent tells the program is a server-message, or the server-response to what it answers', () => {
    const dialect = ready();
    const write = (message: MessageToClient) => said(dialect.writeMessage?.(message));
    expect(write({ data: [1, null] })).toEqual({ label: 'rtvi-ai', type: 'server-message', data: [1, null] });
    expect(write({ data: 7, answers: { id: 'ab12cd34', name: 'cart' } })).toEqual({
      ...{ label: 'rtvi-ai', type: 'server-response', id: 'ab12cd34' },
      data: { t: 'cart', d: 7 },
    });
  });

  it('what has another label is ignored, and what is no JSON is a fault', () => {
    expect(ready().hear('{"label":"other","type":"client-ready"}')).toEqual({ type: 'nothing' });
    expect(ready().hear('{')).toEqual({ type: 'message', message: { type: 'not-json' } });
  });
});

describe('what clients are told', () => {
  const turn: readonly ConversationEvent[] = [
    { type: 'turn.user_started', epoch: 1 },
    { type: 'user.transcript', text: 'Time', final: true },
    { type: 'turn.user_ended', epoch: 1 },
    { type: 'user.text', epoch: 1, text: 'Time' },
    { type: 'bot.llm_started', epoch: 1 },
    { type: 'bot.text', epoch: 1, text: 'It is ten.' },
    { type: 'bot.tts_text', epoch: 1, text: 'It is ten.' },
    { type: 'bot.llm_stopped', epoch: 1 },
    { type: 'turn.bot_started', epoch: 1 },
    { type: 'bot.tts_stopped', epoch: 1 },
    { type: 'bot.heard', epoch: 1, text: 'It is ten.' },
    { type: 'turn.bot_ended', epoch: 1 },
  ];

  it('a turn, in the order of the protocol, with output as it is said', () => {
    const messages = told(ready(), ...turn);
    expect(typesOf(messages)).toEqual([
      ...['user-started-speaking', 'user-transcription', 'user-stopped-speaking', 'user-llm-text'],
      ...['bot-llm-started', 'bot-llm-text', 'bot-tts-started', 'bot-llm-stopped'],
      ...[
        'bot-started-speaking',
        'bot-output',
        'bot-tts-stopped',
        'bot-tts-text',
        'bot-output',
        'bot-stopped-speaking',
      ],
    ]);
    expect(messages[1]).toMatchObject({
      data: { text: 'Time', final: true, timestamp: '2026-01-02T03:04:05.000Z' },
    });
    const outputs = messages.filter(({ type }) => type === 'bot-output').map(({ data }) => data);
    expect(outputs).toMatchObject([
      {
        segment_id: 1,
        spoken_status: 'new',
        spoken_progress: { accumulated_text: '', remaining_text: 'It is ten.' },
      },
      {
        segment_id: 1,
        spoken_status: 'completed',
        spoken_progress: { accumulated_text: 'It is ten.', remaining_text: '' },
      },
    ]);
  });

  it('what was heard of an answer is a server-message, for a client that has asked for it', () => {
    const end = { how: 'interrupted', complete: false, heard: 'It is' } as const;
    const over: readonly ConversationEvent[] = [
      ...turn.slice(0, -2),
      { type: 'bot.heard', epoch: 1, text: 'It is' },
      { type: 'bot.heard', epoch: 1, text: '', end },
      { type: 'turn.interrupted', epoch: 2 },
    ];
    const asked = told(ready('2.1.0', { 'session.events': 'bot.heard' }), ...over);
    expect(asked.filter(({ type }) => type === 'server-message')).toEqual([
      {
        ...{ label: 'rtvi-ai', type: 'server-message' },
        data: { type: 'bot.heard', epoch: 1, text: 'It is', complete: false, ended: 'interrupted' },
      },
    ]);
    expect(typesOf(told(ready(), ...over))).not.toContain('server-message');
  });

  it('another agent that has the call is a server-message, for a client that has asked for it', () => {
    const changed: ConversationEvent = { type: 'agent.changed', agent: 'billing' };
    const end = { how: 'finished', complete: true, heard: 'It is.' } as const;
    const both = { 'session.events': 'bot.heard,agent.changed' };
    expect(told(ready('2.1.0', both), changed, { type: 'bot.heard', epoch: 1, text: '', end })).toMatchObject(
      [
        { type: 'server-message', data: { type: 'agent.changed', agent: 'billing' } },
        { type: 'server-message', data: { type: 'bot.heard', text: 'It is.' } },
      ],
    );
    expect(told(ready('2.1.0', { 'session.events': 'bot.heard' }), changed)).toEqual([]);
    expect(told(ready(), changed)).toEqual([]);
  });

  it.each([
    ['/?events=agent.changed,bot.heard', 'bot.heard,agent.changed'],
    ['/?events=agent.changed', 'agent.changed'],
    ['/?token=x&events=bot.heard', 'bot.heard'],
    ['/?events=a,bot.heard,bot.heard', 'bot.heard'],
    ['/?events=all', ''],
    ['/', ''],
  ])('asks for that by its address: %s', (url, events) => {
    expect(eventsOf(url)).toBe(events);
  });

  it('clients of version 1 get a sentence before and after it was said', () => {
    const outputs = told(ready('1.2.0'), ...turn).filter(({ type }) => type === 'bot-output');
    expect(outputs.map(({ data }) => data)).toEqual([
      { text: 'It is ten.', spoken: false, aggregated_by: 'sentence' },
      { text: 'It is ten.', spoken: true, aggregated_by: 'sentence' },
    ]);
  });

  it('the place within a sentence grows by whole words, never reaches the end, and waits while nothing goes out', () => {
    const dialect = ready();
    told(dialect, ...turn.slice(0, 9));
    const progress = (now: number): unknown[] =>
      (dialect.due?.(now) ?? [])
        .map(said)
        .filter(({ type }) => type === 'bot-output')
        .map(({ data }) => data);
    expect(progress(0)).toEqual([]);
    for (let frame = 0; frame < 30; frame += 1) dialect.writeAudio(Buffer.alloc(960));
    expect(progress(1_000)).toMatchObject([
      {
        spoken_status: 'in-progress',
        spoken_progress: { accumulated_text: 'It is', remaining_text: ' ten.' },
      },
    ]);
    expect(progress(2_000)).toEqual([]);
    for (let frame = 0; frame < 300; frame += 1) dialect.writeAudio(Buffer.alloc(960));
    expect(progress(3_000)).toEqual([]);
  });

  it('an answer that is cut is never completed', () => {
    const dialect = ready();
    const cut: ConversationEvent[] = [
      { type: 'bot.heard', epoch: 1, text: 'It is' },
      { type: 'turn.interrupted', epoch: 2 },
      { type: 'bot.heard', epoch: 1, text: ' ten.' },
    ];
    told(dialect, ...turn.slice(0, 9));
    expect(typesOf(told(dialect, ...cut))).toEqual([
      'bot-tts-stopped',
      'bot-interrupted',
      'bot-stopped-speaking',
    ]);
  });

  it('times in seconds', () => {
    const times = {
      endOfTurnMs: 300,
      sttFinalMs: 50,
      llmTtftMs: 210,
      ttsTtfbMs: 90,
      wireMs: 5,
      responseMs: 655,
      filled: false,
    };
    expect(told(ready(), { type: 'turn.measured', epoch: 1, times })[0]).toMatchObject({
      type: 'metrics',
      data: {
        ttfb: [
          { processor: 'stt', value: 0.05 },
          { processor: 'llm', value: 0.21 },
          { processor: 'tts', value: 0.09 },
        ],
      },
    });
  });

  it.each(['2.1.0', '1.3.0'])('to a client of %s of each tool that runs its id alone', (version) => {
    const call = { id: 'c1', name: 'pay', arguments: '{"iban":"secret"}' };
    const messages = told(
      ready(version),
      { type: 'tool.started', call },
      { type: 'tool.ended', call, end: 'answered' },
      { type: 'tools.answered', pairs: [{ call, text: 'secret' }] },
    );
    expect(messages.map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'llm-function-call-started', data: {} },
      { type: 'llm-function-call-in-progress', data: { tool_call_id: 'c1' } },
      { type: 'llm-function-call-stopped', data: { tool_call_id: 'c1', cancelled: false } },
    ]);
  });

  it.each([
    ['failed', false],
    ['abandoned', true],
  ] as const)('that a tool %s: cancelled is %s', (end, cancelled) => {
    const call = { id: 'c1', name: 'pay', arguments: '{}' };
    expect(told(ready(), { type: 'tool.ended', call, end })[0]).toMatchObject({ data: { cancelled } });
  });

  it('nothing of where its flow is', () => {
    expect(told(ready(), { type: 'node.entered', node: 'x' })).toEqual([]);
  });
});

it('goes on in another worker where it was', () => {
  const dialect = ready('1.4.0');
  told(dialect, { type: 'bot.tts_text', epoch: 1, text: 'One.' }, { type: 'turn.bot_started', epoch: 1 });
  const next = newDialect(JSON.parse(dialect.save()));
  expect(next.kind).toBe(dialect.kind);
  expect(
    typesOf(told(next, { type: 'bot.heard', epoch: 1, text: 'One.' }, { type: 'turn.bot_ended', epoch: 1 })),
  ).toEqual(['bot-tts-text', 'bot-output', 'bot-stopped-speaking']);
});
