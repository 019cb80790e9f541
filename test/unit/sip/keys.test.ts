/** A caller's keys as peers really send them: RTP events that break the rules, INFO in its many forms, and both at once. */
import { describe, expect, it } from 'vitest';
import { step } from '../../../shared/sip/agent/agent.ts';
import { newAgent, type AgentAction, type AgentState, type Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram } from '../../../shared/sip/message/parse.ts';
import { KeyReader } from '../../../worker/media/rtp/keys.ts';
import { TwoWays } from '../../../worker/sip/sip-call.ts';

interface Event {
  readonly t: number;
  readonly duration: number;
  readonly isEnd?: boolean;
  readonly marker?: boolean;
  readonly key?: number;
  readonly ssrc?: number;
  /** Its place in the stream, where that is not the order of arrival. */
  readonly sequence?: number;
}

/** Keys that a stream of events is read as. */
function read(events: readonly Event[], { clock = 8_000, base = 0xffff_fe00, first = 65_530 } = {}): string {
  const reader = new KeyReader();
  return events
    .map(({ t, duration, isEnd = false, marker = false, key = 8, ssrc = 1, sequence }, index) => {
      const payload = Buffer.from([key, (isEnd ? 0x80 : 0) | 10, duration >> 8, duration & 0xff]);
      const timestamp = (base + t) >>> 0;
      const number = (first + (sequence ?? index)) & 0xffff;
      return (
        reader.take({ payloadType: 101, marker, sequence: number, timestamp, ssrc, payload }, clock) ?? ''
      );
    })
    .join('');
}

/** A press by the book: a packet each 20 ms, its end three times. */
const press = (t: number, ms: number, more: Partial<Event> = {}): Event[] => {
  const packets = Array.from({ length: ms / 20 }, (_, i) => ({
    ...more,
    t,
    duration: (i + 1) * 160,
    marker: i === 0,
  }));
  const end = { ...more, t, duration: ms * 8, isEnd: true };
  return [...packets, end, end, end];
};
const unmarked = (events: readonly Event[]): Event[] => events.map((event) => ({ ...event, marker: false }));
const numbered = (events: readonly Event[]): Event[] =>
  events.map((event, sequence) => ({ ...event, sequence }));
const repeated = (count: number, make: (i: number) => Event): Event[] =>
  Array.from({ length: count }, (_, i) => make(i));

describe('one press', () => {
  const usual = press(0, 100);
  const growing = repeated(6, (i) => ({ t: i * 160, duration: (i + 1) * 160, marker: i === 0 }));
  const end = { t: 0, duration: 480, isEnd: true };

  it.each<[string, readonly Event[]]>([
    ['by the book', usual],
    [
      'whose ends have new timestamps',
      [{ t: 0, duration: 160 }, { t: 0, duration: 320 }, end, { ...end, t: 160 }, { ...end, t: 320 }],
    ],
    [
      'whose six ends have new timestamps',
      [{ t: 0, duration: 160 }, ...repeated(6, (i) => ({ ...end, t: i * 160 }))],
    ],
    [
      'whose ends have the time of its end',
      [...usual.slice(0, 5), ...repeated(3, () => ({ t: 800, duration: 800, isEnd: true }))],
    ],
    [
      'whose ends go on from its end',
      [...usual.slice(0, 5), ...repeated(3, (i) => ({ t: 800 + i * 160, duration: 800, isEnd: true }))],
    ],
    ['of ends alone, with new timestamps', repeated(3, (i) => ({ ...end, t: i * 160 }))],
    ['with a new timestamp in each packet', growing],
    [
      'with a new timestamp in each packet, and marked in each',
      growing.map((event) => ({ ...event, marker: true })),
    ],
    [
      'with a new timestamp in each packet, and in each end',
      [...growing, ...repeated(3, (i) => ({ t: 960 + i * 160, duration: 960, isEnd: true }))],
    ],
    [
      'with new timestamps and ends of the first',
      [...growing, ...repeated(3, () => ({ t: 0, duration: 960, isEnd: true }))],
    ],
    [
      'with a new timestamp in each packet and one duration',
      repeated(6, (i) => ({ t: i * 160, duration: 160, marker: i === 0 })),
    ],
    [
      'with durations that begin at 0',
      repeated(6, (i) => ({ t: i * 160, duration: i * 160, marker: i === 0 })),
    ],
    [
      'whose first packet comes last',
      numbered(usual).toSorted((one, other) => Number(one.marker) - Number(other.marker)),
    ],
    ['that comes backwards', numbered(usual).toReversed()],
    [
      'with new timestamps, out of order',
      [0, 2, 1, 4, 3, 5].map((sequence) => ({ ...growing[sequence]!, sequence })),
    ],
    ['each packet of which comes twice', numbered(usual).flatMap((event) => [event, event])],
    ['all of which comes again', [...numbered(usual), ...numbered(usual)]],
    ['that is not marked', unmarked(usual)],
    ['whose ends are lost', usual.filter(({ isEnd }) => isEnd !== true)],
    ['of its last packet alone', usual.slice(-1)],
    [
      'of two segments',
      [
        ...press(0, 8_180).filter(({ isEnd }) => isEnd !== true),
        { t: 65_535, duration: 160 },
        { t: 65_535, duration: 320, isEnd: true },
      ],
    ],
    [
      'of three segments, a packet lost at each',
      [
        { t: 0, duration: 65_375 },
        { t: 65_535, duration: 320 },
        { t: 65_535, duration: 65_375 },
        { t: 131_070, duration: 320 },
        { t: 131_070, duration: 480, isEnd: true },
      ],
    ],
    [
      'that says nothing for a second',
      [
        { t: 0, duration: 160 },
        { t: 0, duration: 320 },
        { t: 0, duration: 13_568, isEnd: true },
      ],
    ],
  ])('%s is one key', (_what, events) => {
    expect(read(events)).toBe('8');
    expect(read(events, { base: 5_000, first: 0 })).toBe('8');
  });

  it('at another clock is one key', () => {
    const fast = (event: Event): Event => ({ ...event, t: event.t * 6, duration: event.duration * 6 });
    expect(read(growing.map(fast), { clock: 48_000 })).toBe('8');
    expect(read([...press(0, 40), ...press(800, 40)].map(fast), { clock: 48_000 })).toBe('88');
  });
});

describe('two presses', () => {
  const endless = press(0, 60).filter(({ isEnd }) => isEnd !== true);
  it.each<[string, readonly Event[]]>([
    ['by the book', [...press(0, 100), ...press(1_600, 100)]],
    ['60 ms apart', [...press(0, 60), ...press(960, 60)]],
    ['that begin 60 ms apart', [...press(0, 40), ...press(480, 40)]],
    ['60 ms apart, not marked', unmarked([...press(0, 60), ...press(960, 60)])],
    ['60 ms apart, without the first end', [...endless, ...press(960, 60)]],
    ['60 ms apart, without the first end, not marked', unmarked([...endless, ...press(960, 60)])],
    ['60 ms apart, with no end at all', [...endless, ...endless.map((event) => ({ ...event, t: 960 }))]],
    ['60 ms apart, the second of ends alone', [...press(0, 60), ...press(960, 60).slice(-3)]],
    ['60 ms apart, the first of ends alone', [...press(0, 60).slice(-3), ...press(960, 60)]],
    ['60 ms apart, of one packet each', [...press(0, 60).slice(0, 1), ...press(960, 60).slice(0, 1)]],
    [
      '60 ms apart, each with new timestamps of ends',
      [0, 960].flatMap((t) => [
        ...endless.map((event) => ({ ...event, t })),
        ...repeated(3, (i) => ({ t: t + i * 160, duration: 480, isEnd: true })),
      ]),
    ],
    [
      '60 ms apart, with a new timestamp in each packet',
      [0, 960].flatMap((at) =>
        repeated(3, (i) => ({ t: at + i * 160, duration: (i + 1) * 160, marker: i === 0 })),
      ),
    ],
    ['of a clock that stands still', [...press(0, 60), ...press(0, 60)]],
    ['a long time apart', [...press(0, 100), ...press(2 ** 31 + 77, 100)]],
    [
      'as many packets apart as there are numbers',
      [...press(0, 60), ...press(10_000_000, 60).map((event, i) => ({ ...event, sequence: 65_536 + i }))],
    ],
    ['before and after the time begins anew', [...press(900_000_000, 60), ...press(0, 60)]],
    ['of two streams', [...press(0, 60), ...press(0, 60, { ssrc: 2 })]],
  ])('%s are two keys', (_what, events) => {
    expect(read(events)).toBe('88');
  });

  it('of two keys are those, whatever their times', () => {
    expect(read([...press(0, 60), ...press(960, 60, { key: 10 })])).toBe('8*');
    expect(read([...press(0, 60), ...press(0, 60, { key: 11 })])).toBe('8#');
    expect(read([...press(0, 60).slice(0, 2), ...press(160, 60, { key: 12 })])).toBe('8A');
  });

  it('whose packets overtake one another are two keys', () => {
    const both = numbered([...press(0, 60), ...press(960, 60)]);
    const [last, next] = [both[5]!, both[6]!];
    expect(read([...both.slice(0, 5), next, last, ...both.slice(7)])).toBe('88');
  });
});

it('events that are no keys are none', () => {
  expect(read([...press(0, 60, { key: 16 }), ...press(960, 60, { key: 255 })])).toBe('');
});

const flow: Flow = {
  ...{ connection: 0, protocol: 'UDP', source: { address: '192.0.2.1', port: 5060 } },
  local: { address: '198.51.100.7', port: 5060 },
};

function give(state: AgentState, text: string): readonly AgentAction[] {
  const parsed = parseDatagram(Buffer.from(text, 'latin1'));
  if (!parsed.ok) throw new Error(parsed.error);
  const { message, fault } = parsed.value;
  return step(state, { type: 'message.received', message, fault, flow, size: text.length }, 0);
}

const request = (method: string, cseq: number, toTag: string, type: string, body: string): string =>
  `${method} sip:100@198.51.100.7 SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK${cseq}${method}\r\nFrom: <sip:1@192.0.2.1>;tag=f\r\nTo: <sip:100@198.51.100.7>${toTag}\r\nCall-ID: c\r\nCSeq: ${cseq} ${method}\r\nContact: <sip:1@192.0.2.1>\r\n${type === '' ? '' : `Content-Type: ${type}\r\n`}Content-Length: ${body.length}\r\n\r\n${body}`;

describe('INFO', () => {
  /** What the peer is answered, and the key that the call has. */
  const told = (type: string, body: string): [number, string | undefined] => {
    const state = newAgent({
      gate: { judge: () => undefined, knows: () => true },
      accountAt: () => undefined,
      rules: { srtp: 'optional', codecs: ['PCMU'] },
      newToken: () => 't',
      newKey: () => '',
      newSessionId: () => 7,
      isClosed: () => false,
      mostTransactions: 10,
    });
    give(state, request('INVITE', 1, '', 'application/sdp', 'v=0\r\nm=audio 4000 RTP/AVP 0\r\n'));
    step(state, { type: 'call.accepted', call: 1, local: { address: '198.51.100.7', port: 9 } }, 0);
    give(state, request('ACK', 1, ';tag=t', '', ''));
    const out = give(state, request('INFO', 2, ';tag=t', type, body));
    const [answer] = out.flatMap((one) => (one.type === 'send' ? [one.bytes.toString('latin1')] : []));
    const [digit] = out.flatMap((one) => (one.type === 'call.digit' ? [one.digit] : []));
    return [Number(answer?.slice(8, 11)), digit];
  };
  const relay = 'application/dtmf-relay';
  const plain = 'application/dtmf';

  it.each([
    [relay, 'Signal=5\r\nDuration=160\r\n', '5'],
    [relay, 'Signal= 5\r\nDuration= 160', '5'],
    [relay, ' Signal=5\r\n Duration=160\r\n', '5'],
    [relay, 'Duration=160\nsignal = 5\n', '5'],
    [relay, 'Signal: 5', '5'],
    [relay, 'Signal="5"', '5'],
    [relay, 'Signal=5;Duration=160', '5'],
    [relay, 'Signal=*\r\nDuration=160', '*'],
    [relay, 'Signal=#', '#'],
    [relay, 'Signal=hash', '#'],
    [relay, 'Signal=pound', '#'],
    [relay, 'Signal=star', '*'],
    [relay, 'Signal=10', '*'],
    [relay, 'Signal=11', '#'],
    [relay, 'Signal=12', 'A'],
    [relay, 'Signal=d', 'D'],
    [relay, 'd=5', '5'],
    [relay, '5', '5'],
    [`${relay};charset=utf-8`, 'Signal=5', '5'],
    ['Application/DTMF-Relay', 'Signal=5', '5'],
    [plain, '5', '5'],
    [plain, '5\r\n', '5'],
    [plain, '*', '*'],
    [plain, '10', '*'],
    [plain, '11', '#'],
    [plain, 'd=5', '5'],
    [plain, 'd=#\r\ndd=160', '#'],
    [plain, 'Signal=5\r\nDuration=160', '5'],
    [plain, '5\r\n160', '5'],
    ['audio/telephone-event', '7', '7'],
    ['application/vnd.nortelnetworks.digits', 'p=Digit-Collection\r\ny=Digits\r\n\r\nd=3\r\n', '3'],
    ['', 'Signal=5', '5'],
  ])('of type %s and body %j presses %s', (type, body, key) => {
    expect(told(type, body)).toEqual([200, key]);
  });

  it.each([
    [relay, 'Signal=16'],
    [relay, 'Signal=flash'],
    [relay, 'Signal='],
    [relay, 'Signal=55'],
    [relay, 'Duration=160'],
    [relay, ''],
    [plain, ''],
    [plain, '1 2'],
    [plain, 'hello'],
    ['', 'hello'],
    ['text/plain', '5'],
    ['application/media_control+xml', '<x/>'],
  ])('of type %s and body %j is refused, for nobody can read a key in it', (type, body) => {
    expect(told(type, body)).toEqual([415, undefined]);
  });

  it.each([
    ['', ''],
    ['text/plain', ''],
  ])('that says nothing (%j) is answered, and presses nothing', (type, body) => {
    expect(told(type, body)).toEqual([200, undefined]);
  });
});

describe('keys by two ways', () => {
  const heard = (presses: readonly (readonly [string, 'audio' | 'message', number])[]): string => {
    const ways = new TwoWays();
    return presses.map(([digit, way, at]) => (ways.isPress(digit, way, at) ? digit : '')).join('');
  };

  it('count once for each press', () => {
    expect(
      heard([
        ['5', 'audio', 0],
        ['5', 'message', 200],
      ]),
    ).toBe('5');
    expect(
      heard([
        ['5', 'message', 0],
        ['5', 'audio', 20],
      ]),
    ).toBe('5');
    expect(
      heard([
        ['5', 'audio', 0],
        ['5', 'audio', 300],
        ['5', 'message', 310],
        ['5', 'message', 600],
      ]),
    ).toBe('55');
    expect(
      heard([
        ['5', 'audio', 0],
        ['5', 'message', 100],
        ['5', 'audio', 300],
        ['5', 'message', 400],
      ]),
    ).toBe('55');
    expect(
      heard([
        ['1', 'audio', 0],
        ['2', 'audio', 300],
        ['1', 'message', 310],
        ['2', 'message', 600],
      ]),
    ).toBe('12');
  });

  it('count each where they come by one, or long after one another', () => {
    expect(
      heard([
        ['5', 'audio', 0],
        ['5', 'audio', 100],
      ]),
    ).toBe('55');
    expect(
      heard([
        ['5', 'message', 0],
        ['5', 'message', 100],
      ]),
    ).toBe('55');
    expect(
      heard([
        ['5', 'audio', 0],
        ['5', 'message', 6_000],
      ]),
    ).toBe('55');
    expect(
      heard([
        ['5', 'audio', 0],
        ['6', 'message', 100],
      ]),
    ).toBe('56');
  });

  it('are remembered in bounded memory', () => {
    const many = Array.from({ length: 1_000 }, (_, i) => ['5', 'audio', i] as const);
    expect(heard(many)).toHaveLength(1_000);
  });
});
