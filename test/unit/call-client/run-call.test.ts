/** The command: a whole call against a scripted server, in real time but short. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parseWav, writeWav } from '../../../shared/audio/wav.ts';
import { parseCallArguments, runCall } from '../../../cli/commands/call/call-client.ts';
import type { CallOptions } from '../../../cli/commands/call/call-client.ts';
import type { CallReport } from '../../../cli/commands/call/call-report.ts';
import { hangUpWhenAsked, isLoud, listen, refuseWith, start } from './scripted-server.ts';
import type { Peer, ScriptedServer } from './scripted-server.ts';

let folder = '';
let file = '';
let server: ScriptedServer | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'call-client-'));
  file = join(folder, 'question.wav');
  const tone = Int16Array.from({ length: 2400 }, (_, i) => Math.round(9000 * Math.sin(i / 3)));
  await writeFile(file, writeWav(tone, 8000));
});
afterAll(() => rm(folder, { recursive: true }));
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const pace = {
  greetingStartMs: 2000,
  greetingQuietMs: 60,
  answerQuietMs: 100,
  noAnswerMs: 300,
  listenMs: 5000,
};

async function run(options: Partial<CallOptions>): Promise<{ status: number; lines: string[] }> {
  const lines: string[] = [];
  const url = server?.url ?? 'ws://127.0.0.1:1';
  const status = await runCall({ file, url, pace, ...options }, { write: (line) => lines.push(line) });
  return { status, lines };
}

/** Greets, and answers when the caller has spoken. */
async function polite(peer: Peer): Promise<void> {
  await start(peer);
  peer.speak(5);
  peer.send({ type: 'mark', id: 'greeted' });
  await peer.message((m) => m.type === 'mark' && m['id'] === 'greeted');
  await peer.audio(isLoud);
  let last = peer.received.length;
  // The question is over when half a second of silence follows it: a caller that was held up sends several frames at once.
  await peer.audio((bytes) => {
    const spoken = peer.received.findLastIndex((m) => Buffer.isBuffer(m) && isLoud(m));
    last = Math.max(last, spoken);
    return peer.received.indexOf(bytes) > last + 25;
  });
  peer.speak(8);
  await hangUpWhenAsked(peer);
}

describe('runCall', () => {
  it('waits for the greeting, speaks, hears the answer, hangs up and writes what was heard', async () => {
    const peers: Peer[] = [];
    server = await listen((peer) => {
      peers.push(peer);
      return polite(peer);
    });
    const out = join(folder, 'heard.wav');
    // A machine that does other work may hold the other end up.
    const unhurried = { ...pace, greetingQuietMs: 1_000, answerQuietMs: 1_000, noAnswerMs: 5_000 };
    const { status, lines } = await run({ json: true, out, token: 'secret', pace: unhurried });
    const report = JSON.parse(lines[0]!) as CallReport;
    expect(report.timeline.map((entry) => entry.what.replace(/, \d+ ms.*/, ''))).toEqual([
      'greeting arrived',
      'greeting ended',
      'mark 1 played',
      'caller began to speak',
      'caller stopped speaking',
      'answer arrived',
      'answer ended',
      'stop: ended',
      'connection closed (1000)',
    ]);
    expect(report).toMatchObject({
      answered: true,
      clears: 0,
      marksPlayed: 1,
      errors: [],
      stopReason: 'ended',
    });
    expect(status).toBe(0);
    const heard = parseWav(await readFile(out));
    expect(heard.sampleRate).toBe(16_000);
    expect([...heard.pcm].filter((v) => v === 6000)).toHaveLength(320 * 13);
    // The recording is 300 ms at 8 kHz and went out at 16 kHz.
    const loudFrames = peers[0]!.received.filter((m) => Buffer.isBuffer(m) && isLoudAnywhere(m));
    expect(loudFrames.length).toBeGreaterThanOrEqual(15);
    expect(loudFrames.length).toBeLessThanOrEqual(16);
    expect(lines.join()).not.toContain('secret');
  });

  it('speaks at once when told, and says that there was no answer', async () => {
    server = await listen(async (peer) => {
      await start(peer);
      await hangUpWhenAsked(peer);
    });
    const { status, lines } = await run({ waitGreeting: false, pace: { ...pace, noAnswerMs: 200 } });
    expect(lines.at(-1)).toBe('no answer; 0 clear, 0 marks played');
    expect(status).toBe(0);
  });

  it('fails when the call ends by a fatal error, and names it', async () => {
    server = await listen(async (peer) => {
      await start(peer);
      await peer.audio(() => true);
      peer.send({ type: 'error', code: 'overloaded', message: 'try later', fatal: true });
      peer.socket.close(1013);
    });
    const { status, lines } = await run({});
    expect(status).toBe(1);
    expect(lines.join('\n')).toContain('error overloaded (fatal): try later');
    expect(lines.join('\n')).toContain('connection closed (1013)');
  });

  it('hangs up on Ctrl-C', async () => {
    const stops: unknown[] = [];
    server = await listen(async (peer) => {
      await start(peer);
      await peer.audio(() => true);
      process.emit('SIGINT');
      stops.push(await peer.message((m) => m.type === 'stop'));
      await hangUpWhenAsked(peer);
    });
    const before = process.listenerCount('SIGINT');
    const { status, lines } = await run({});
    expect(status).toBe(130);
    expect(stops).toEqual([{ type: 'stop' }]);
    expect(lines.join('\n')).toContain('interrupted: hanging up');
    expect(process.listenerCount('SIGINT')).toBe(before);
  });

  it('fails with the status and Retry-After of a refusal', async () => {
    server = await refuseWith(
      'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n',
    );
    const { status, lines } = await run({ token: 'secret' });
    expect(status).toBe(1);
    expect(lines[0]).toMatch(
      /^127\.0\.0\.1:\d+: the server refused the call with HTTP 503 \(Retry-After: 1\)$/,
    );
    const json = await run({ json: true });
    expect(JSON.parse(json.lines[0]!)).toMatchObject({ status: 503, retryAfter: '1' });
  });

  it('fails when nobody listens, and keeps the query part of the address to itself', async () => {
    server = await refuseWith('');
    const { url } = server;
    await server.close();
    server = undefined;
    const { status, lines } = await run({ url: `${url}/?token=secret` });
    expect(status).toBe(1);
    expect(lines[0]).toMatch(/^127\.0\.0\.1:\d+: the server cannot be reached: ECONNREFUSED$/);
  });

  it.each([
    ['is not there', undefined, 'there is no such file'],
    ['is no WAV file', Buffer.from('hello'), 'not a WAV file'],
    ['is empty', Buffer.from(writeWav(new Int16Array(0), 8000)), 'holds no audio'],
    ['has a strange rate', Buffer.from(writeWav(new Int16Array(9), 11_025)), 'sample rate must be one of'],
  ])('fails before it calls when the recording %s', async (name, bytes, reason) => {
    const bad = join(folder, `${name}.wav`);
    if (bytes !== undefined) await writeFile(bad, bytes);
    const { status, lines } = await run({ file: bad });
    expect(status).toBe(1);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`recording: `);
    expect(lines[0]).toContain(reason);
  });
});

function isLoudAnywhere(bytes: Buffer): boolean {
  for (let at = 0; at + 1 < bytes.length; at += 2) if (Math.abs(bytes.readInt16LE(at)) > 1000) return true;
  return false;
}

describe('parseCallArguments', () => {
  it('reads every option', () => {
    const args =
      '--url ws://h:1 --out o.wav --rate 8000 --encoding mulaw --listen-s 2.5 --token t --json q.wav';
    expect(parseCallArguments([...args.split(' '), '--no-wait-greeting'])).toEqual({
      ok: true,
      value: {
        file: 'q.wav',
        url: 'ws://h:1',
        out: 'o.wav',
        rate: 8000,
        encoding: 'mulaw',
        listenS: 2.5,
        token: 't',
        json: true,
        waitGreeting: false,
      },
    });
  });

  it('waits for the greeting unless told otherwise', () => {
    expect(parseCallArguments(['q.wav'])).toMatchObject({ value: { waitGreeting: true } });
    expect(parseCallArguments(['q.wav', '--wait-greeting'])).toMatchObject({ value: { waitGreeting: true } });
  });

  it.each([
    [[], 'FILE.wav is missing'],
    [['a.wav', 'b.wav'], 'too many arguments: call takes FILE.wav'],
    [['a.wav', '--rate', '11025'], '--rate: must be one of 8000'],
    [['a.wav', '--encoding', 'opus'], '--encoding: must be'],
    [['a.wav', '--listen-s', '0'], '--listen-s: must be'],
    [['a.wav', '--listen-s', 'long'], '--listen-s: must be'],
    [['a.wav', '--loud'], '--loud'],
  ])('refuses %j', (args, message) => {
    const result = parseCallArguments(args);
    expect(result.ok ? '' : result.error).toContain(message);
  });
});

describe('a call to a service that tells the conversation', () => {
  const told = (peer: Peer): void => {
    peer.send({ type: 'bot.tts_text', epoch: 0, text: 'Hello,\u001b[31m what can I do?' });
    peer.send({ type: 'user.transcript', text: 'What is', final: false });
    peer.send({ type: 'user.transcript', text: 'What is the weather?', final: true });
    peer.send({ type: 'user.text', epoch: 1, text: 'What is the weather?' });
    peer.send({ type: 'bot.tts_text', epoch: 1, text: 'It is sunny.' });
    const metrics = { end_of_turn_ms: 700, llm_ttft_ms: 40, response_ms: 812 };
    peer.send({ type: 'turn.metrics', epoch: 1, metrics });
    peer.send({ type: 'turn.interrupted', epoch: 2 });
    peer.send({ type: 'user.text', epoch: 2, text: 'No, in Rome.' });
    peer.send({ type: 'agent.changed', agent: 'billing' });
    peer.send({ type: 'bot.of_a_later_version', epoch: 2 });
    peer.send({ type: 'mark', id: 'm' });
  };

  it('prints what was heard and said, with times, and no marks', async () => {
    const asked: unknown[] = [];
    server = await listen(async (peer) => {
      const first = await start(peer);
      asked.push(peer.received[0], first);
      told(peer);
      await hangUpWhenAsked(peer);
    });
    const { status, lines } = await run({ waitGreeting: false, pace: { ...pace, noAnswerMs: 200 } });
    expect(status).toBe(0);
    expect(asked[0]).toMatchObject({
      events: [
        'user.transcript',
        'user.text',
        'bot.tts_text',
        'turn.interrupted',
        'agent.changed',
        'turn.metrics',
        'stage.failed',
      ],
    });
    const said = lines.filter((line) => /heard|agent|answers|the answer/.test(line));
    expect(said.map((line) => line.replace(/^ *[\d.]+ s {2}/, ''))).toEqual([
      'agent: Hello,[31m what can I do?',
      'heard: What is the weather?',
      'agent: It is sunny.',
      'the answer begins after 812 ms (end of turn 700 ms, first text 40 ms)',
      'the answer was interrupted',
      'answers: No, in Rome.',
      'another agent has the call: billing',
    ]);
    expect(said.every((line) => /^ +\d+\.\d{3} s {2}/.test(line))).toBe(true);
    expect(lines.join('\n')).not.toContain('mark 1 played');
  });

  it('fails when a stage did, and sends to the log', async () => {
    server = await listen(async (peer) => {
      await start(peer);
      for (let times = 0; times < 12; times += 1)
        peer.send({ type: 'stage.failed', stage: 'llm', reason: 'rejected 401' });
      await hangUpWhenAsked(peer);
    });
    const { status, lines } = await run({ waitGreeting: false, pace: { ...pace, noAnswerMs: 200 } });
    expect(status).toBe(1);
    expect(
      lines.filter((line) => line.includes('failed')).map((line) => line.replace(/^ *[\d.]+ s {2}/, '')),
    ).toEqual([
      'llm failed: rejected 401; the log of the service names the provider and what to change',
      'llm failed: rejected 401 (10 times)',
    ]);
  });

  it('says that the server broke the protocol when a message is not as specified', async () => {
    server = await listen(async (peer) => {
      await start(peer);
      peer.send({ type: 'user.text', epoch: 'one', text: 'Hello.' });
      await hangUpWhenAsked(peer);
    });
    const { lines } = await run({ waitGreeting: false, pace: { ...pace, noAnswerMs: 200 } });
    expect(lines.join('\n')).toContain('the server broke the protocol: user.text: epoch is not as specified');
  });
});
