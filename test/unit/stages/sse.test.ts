import { describe, expect, it } from 'vitest';
import { SseParser } from '../../../worker/stages/llm/sse.ts';
import type { SseEvent } from '../../../worker/stages/llm/sse.ts';

function parse(chunks: readonly Buffer[], maxBytes = 1_000): SseEvent[] | 'too-large' {
  const parser = new SseParser(maxBytes);
  const events: SseEvent[] = [];
  for (const chunk of chunks) {
    const found = read(parser, chunk);
    if (found === 'too-large') return found;
    events.push(...found);
  }
  return events;
}

function read(parser: SseParser, chunk: Buffer): SseEvent[] | 'too-large' {
  const events: SseEvent[] = [];
  for (const event of parser.push(chunk)) {
    if (event === 'too-large') return event;
    events.push(event);
  }
  return events;
}

const whole = (text: string): SseEvent[] | 'too-large' => parse([Buffer.from(text)]);

describe('the event parser', () => {
  const TEXT = [
    '\uFEFF: keep-alive\n\n',
    'data: {"a":"ğüş €"}\n\n',
    'event: error\r\ndata:one\r\ndata: two\r\n\r\n',
    'data: x\r\r',
    ': only a comment\n\ndata\n\ndata:\n\ndata: \r\n\r\nid: 4\nretry: 10\ndata:  spaced\n\n',
    'event: error\ndata:\n\n',
  ].join('');
  const EVENTS = [
    { event: '', data: '{"a":"ğüş €"}' },
    { event: 'error', data: 'one\ntwo' },
    { event: '', data: 'x' },
    { event: '', data: ' spaced' },
    { event: 'error', data: '' },
  ];

  it('reads every line ending, joins data lines, and ignores comments and events without data', () => {
    expect(whole(TEXT)).toEqual(EVENTS);
  });

  it('gives the same events wherever the bytes are cut', () => {
    const bytes = Buffer.from(TEXT);
    for (let at = 1; at < bytes.length; at += 1) {
      expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(EVENTS);
    }
    expect(parse([...bytes].map((byte) => Buffer.from([byte])))).toEqual(EVENTS);
  });

  it('does not keep a buffer that belongs to the socket', () => {
    const parser = new SseParser(1_000);
    const reused = Buffer.from('data: he');
    read(parser, reused);
    reused.fill(0);
    expect(read(parser, Buffer.from('llo\n\n'))).toEqual([{ event: '', data: 'hello' }]);
  });

  it('refuses an event over the bound, in one line or in many', () => {
    expect(whole(`data: ${'x'.repeat(1_000)}`)).toBe('too-large');
    expect(whole(`data: ${'x'.repeat(1_000)}\n\n`)).toBe('too-large');
    expect(whole('data: y\n'.repeat(200))).toBe('too-large');
    expect(whole('data: y\n\n'.repeat(400))).toHaveLength(400);
  });

  it('takes an event of a mebibyte, in one piece and in many', () => {
    const most = 1_048_576;
    const event = Buffer.from(`data: ${'x'.repeat(most - 6)}\n\n`);
    const length = (events: SseEvent[] | 'too-large'): unknown =>
      events !== 'too-large' && events[0]?.data.length;
    expect(length(parse([event], most))).toBe(most - 6);
    const pieces = Array.from({ length: 17 }, (_, at) => event.subarray(at * 65_536, (at + 1) * 65_536));
    expect(length(parse(pieces, most))).toBe(most - 6);
    expect(parse([Buffer.from(`data: ${'x'.repeat(most - 5)}\n\n`)], most)).toBe('too-large');
  });

  it.each(['null', '""', '[]', ' [ ] ', 'true', 'ping', '"keep-alive"'])(
    'leaves out data that says nothing: %s',
    (data) => {
      expect(whole(`data: ${data}\n\ndata: x\n\n`)).toEqual([{ event: '', data: 'x' }]);
      expect(whole(`event: error\ndata: ${data}\n\n`)).toHaveLength(1);
    },
  );

  it('gives what the end of the stream left open', () => {
    const parser = new SseParser(1_000);
    expect(read(parser, Buffer.from('data: [DONE]'))).toEqual([]);
    expect(parser.end()).toEqual({ event: '', data: '[DONE]' });
    expect(new SseParser(1_000).end()).toBeUndefined();
  });

  it('takes JSON without a field for an error event, in as many lines as it has, however it is cut', () => {
    const bytes = Buffer.from('{"error":\r\n  {"code":500}\r\n}\r\n\r\ndata: x\n\n');
    const events = [
      { event: 'error', data: '{"error":\n  {"code":500}\n}' },
      { event: '', data: 'x' },
    ];
    for (let at = 0; at < bytes.length; at += 1)
      expect(parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(events);
  });

  it('takes an error field for an error event', () => {
    expect(whole('error: {"code":500}\n\n')).toEqual([{ event: 'error', data: '{"code":500}' }]);
  });
});
