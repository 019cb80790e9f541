/** A SIP call as its engine and its peer see it: reports of both sides, and a peer that vanishes. */
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:dgram';
import { describe, expect, it } from 'vitest';
import type { SipMedia } from '../../../shared/sip/calls.ts';
import { Srtcp } from '../../../worker/media/rtp/srtp.ts';
import { SipCall } from '../../../worker/sip/sip-call.ts';

interface Sent {
  readonly bytes: Buffer;
  readonly port: number;
}

/** A socket that keeps what is sent. */
class Wire extends EventEmitter {
  readonly sent: Sent[] = [];
  isClosed = false;
  send(bytes: Buffer, port: number, _address: string, done: () => void): void {
    this.sent.push({ bytes: Buffer.from(bytes), port });
    done();
  }
  close(): void {
    this.isClosed = true;
  }
  get reports(): readonly Sent[] {
    return this.sent.filter(({ bytes }) => bytes[1] === 200 || bytes[1] === 201);
  }
}

const plain: SipMedia = {
  ...{ codec: 'PCMU', payloadType: 0, dtmfType: 101, sends: true, receives: true },
  remote: { address: '192.0.2.1', port: 4_000, rtcpPort: 4_001 },
};

function newCall(media: SipMedia = plain): {
  call: SipCall;
  wire: Wire;
  said: string[];
  /** Bytes of audio that the engine was told. */
  heard: number[];
  at: (now: number) => void;
} {
  const wire = new Wire();
  const said: string[] = [];
  const heard: number[] = [];
  const note =
    (what: string) =>
    (value?: unknown): void =>
      void said.push(`${what} ${typeof value === 'string' ? value : ''}`.trim());
  let now = 0;
  const call = new SipCall({
    offer: { type: 'sip.offer', offer: 1, callId: 'c', media, isOpen: false, metadata: {} },
    socket: wire as unknown as Socket,
    events: {
      ...{ started: note('started'), dtmf: note('key'), markPlayed: note('mark'), typed: note('typed') },
      ...{ ended: note('ended'), audio: ({ length }) => heard.push(length) > 0, messaged: () => false },
    },
    line: { accept: note('accept'), refuse: note('refuse'), hangUp: note('hang up'), over: note('over') },
    ...{ now: () => now, unixMs: () => 1_700_000_000_000 + now, random: () => 7 },
    scope: { bind: (work) => work },
  });
  call.begin();
  call.accept();
  const at = (time: number): void => {
    for (; now < time; now += 20) call.tick(now);
  };
  return { call, wire, said, heard, at };
}

function audio(sequence: number): Buffer {
  const packet = Buffer.alloc(172, 0xff);
  packet.set([0x80, 0]);
  packet.writeUInt16BE(sequence, 2);
  packet.writeUInt32BE(sequence * 160, 4);
  packet.writeUInt32BE(9, 8);
  return packet;
}
const peer = { address: '192.0.2.1', port: 4_000 };

describe('a SIP call', () => {
  it.each([
    ['PCMU', 'mulaw'],
    ['PCMA', 'alaw'],
    ['G722', undefined],
  ] as const)('of %s says which law its line has: %s', (codec, law) => {
    expect(newCall({ ...plain, codec }).call.law).toBe(law);
  });
});

describe('reports of a SIP call', () => {
  it('go to the port above the audio every 5 s, and say goodbye at the end', () => {
    const { call, wire, at } = newCall();
    call.opened();
    wire.emit('message', audio(1), peer);
    at(5_100);
    const [report] = wire.reports;
    expect(report?.port).toBe(4_001);
    // A sender's report of at least 240 packets, with one block about the peer.
    expect([...report!.bytes.subarray(0, 2)]).toEqual([0x81, 200]);
    expect(report!.bytes.readUInt32BE(20)).toBeGreaterThan(240);
    expect(report!.bytes.readUInt32BE(28)).toBe(9);
    call.closed('hangup');
    expect(wire.reports.at(-1)!.bytes.includes(Buffer.from([0x81, 203]))).toBe(true);
    expect(wire.isClosed).toBe(true);
  });

  it('go where the audio goes, where the peer takes both on one port', () => {
    const { call, wire, at } = newCall({ ...plain, rtcpMux: true });
    call.opened();
    at(5_100);
    expect(wire.reports.map(({ port }) => port)).toEqual([4_000]);
  });

  it('are encrypted where the call is', () => {
    const key = Buffer.alloc(30, 1).toString('base64');
    const keys = { suite: 'AES_CM_128_HMAC_SHA1_80', local: key, remote: key } as const;
    const { call, wire, at } = newCall({ ...plain, keys });
    call.opened();
    at(5_100);
    call.closed('hangup');
    const peerSide = new Srtcp({ ...keys, remote: key }, { sent: 0, heard: 0 });
    expect(wire.reports.length).toBe(2);
    for (const { bytes } of wire.reports) {
      expect(bytes.includes('00000007')).toBe(false);
      expect(peerSide.open(bytes)?.includes('00000007')).toBe(true);
    }
  });

  it('that are no reports are nobody', () => {
    const { call, wire, at } = newCall();
    call.opened();
    for (const bytes of [
      [0x80, 200, 0, 6, 0, 0, 0, 0],
      [0x9f, 201, 255, 255, 1, 2, 3, 4],
    ])
      wire.emit('message', Buffer.from(bytes), { address: '203.0.113.9', port: 9 });
    at(100);
    expect(new Set(wire.sent.map(({ port }) => port))).toEqual(new Set([4_000]));
  });
});

describe('a peer of a SIP call', () => {
  it.each([
    ['wide', 'narrow', 640],
    ['narrow', 'wide', 320],
  ] as const)(
    'that changes from a %s codec to a %s one is heard and spoken to as before',
    (from, _to, bytes) => {
      const narrow = { ...plain, codec: 'PCMU', payloadType: 0 } as const;
      const wide = { ...plain, codec: 'G722', payloadType: 9 } as const;
      const [before, after] = from === 'wide' ? [wide, narrow] : [narrow, wide];
      const { call, wire, heard, at } = newCall(before);
      call.opened();
      call.agreed(after);
      for (const sequence of [1, 2]) {
        const packet = audio(sequence);
        packet[1] = after.payloadType;
        wire.emit('message', packet, peer);
      }
      expect(heard).toEqual([bytes, bytes]);
      const tone = Int16Array.from({ length: bytes / 2 }, (_, i) => 8_000 * Math.sin(i));
      call.sendAudio(Buffer.from(tone.buffer), bytes * 25);
      at(20);
      const { bytes: sent } = wire.sent.at(-1)!;
      expect([sent[1]! & 127, sent.length]).toEqual([after.payloadType, 172]);
      expect(new Set(sent.subarray(12)).size).toBeGreaterThan(50);
    },
  );

  it('that sends nothing for two minutes is gone, and is hung up on', () => {
    const { call, wire, said, at } = newCall();
    call.opened();
    at(60_000);
    wire.emit('message', audio(1), peer);
    at(179_000);
    expect(said).not.toContain('ended disconnected');
    at(181_000);
    expect(said.slice(-3)).toEqual(['hang up', 'ended disconnected', 'over']);
  });

  it('that holds the call may be silent for as long as it likes', () => {
    const { call, said, at } = newCall();
    call.opened();
    call.agreed({ ...plain, receives: false });
    at(600_000);
    call.agreed(plain);
    at(700_000);
    expect(said).not.toContain('ended disconnected');
  });

  it('is whoever sends audio, and no stranger takes its place while it does', () => {
    const { call, wire, at } = newCall();
    call.opened();
    const outside = { address: '198.51.100.9', port: 7_000 };
    wire.emit('message', audio(1), outside);
    wire.emit('message', audio(2), { address: '203.0.113.9', port: 9 });
    at(100);
    expect(new Set(wire.sent.map(({ port }) => port))).toEqual(new Set([7_000]));
  });

  it('that tells its keys with the audio and by messages presses each once', () => {
    const { call, wire, said, at } = newCall();
    call.opened();
    const press = (sequence: number): void => {
      const packet = audio(sequence).subarray(0, 16);
      packet[1] = 101;
      packet.set([5, 0x8a, 1, 224], 12);
      wire.emit('message', packet, peer);
    };
    press(1);
    at(100);
    call.digit('5');
    at(500);
    press(25);
    call.digit('5');
    call.digit('6');
    expect(said.filter((what) => what.startsWith('key'))).toEqual(['key 5', 'key 5', 'key 6']);
  });

  it('that has moved is not brought back by what was still on its way from where it was', () => {
    const { call, wire, at } = newCall();
    call.opened();
    wire.emit('message', audio(1), peer);
    at(100);
    call.agreed({ ...plain, remote: { address: '198.51.100.20', port: 5_000, rtcpPort: 5_001 } });
    wire.emit('message', audio(2), peer);
    // The telephone itself, behind a translation.
    wire.emit('message', audio(3), { address: '198.51.100.9', port: 7_000 });
    wire.sent.length = 0;
    at(200);
    expect(new Set(wire.sent.map(({ port }) => port))).toEqual(new Set([7_000]));
  });

  it('may move to another port when it was silent; a stranger does not get its audio even then', () => {
    const { call, wire, at } = newCall();
    call.opened();
    wire.emit('message', audio(1), { address: '198.51.100.9', port: 7_000 });
    at(2_000);
    wire.sent.length = 0;
    wire.emit('message', audio(2), { address: '203.0.113.9', port: 9 });
    at(2_100);
    expect(new Set(wire.sent.map(({ port }) => port))).toEqual(new Set([7_000]));
    wire.sent.length = 0;
    wire.emit('message', audio(3), { address: '198.51.100.9', port: 7_002 });
    at(2_200);
    expect(new Set(wire.sent.map(({ port }) => port))).toEqual(new Set([7_002]));
  });
});

describe('a background in a SIP call', () => {
  const loud = Buffer.from(new Int16Array(160).fill(8_000).buffer);
  const soft = Buffer.from(new Int16Array(160).fill(300).buffer);
  const packets = (wire: Wire): number[] =>
    wire.sent
      .filter(({ bytes }) => bytes[1]! < 128 + 72 && bytes.length === 172)
      .map(({ bytes }) => bytes[100]!);
  const isVoice = (byte: number): boolean => byte !== 0xff && (byte & 0x7f) < 0x40;

  it('does not wait for the peer, who would hear the greeting behind it', () => {
    const { call, wire } = newCall();
    for (let count = 0; count < 50; count += 1) call.sendBackdrop(soft, 8_000);
    call.sendAudio(loud, 8_000);
    call.opened();
    expect(packets(wire).map(isVoice)).toEqual([true]);
    call.sendBackdrop(soft, 8_000);
    expect(packets(wire).map(isVoice)).toEqual([true, false]);
  });

  it('makes room for what waited while keys were pressed', () => {
    const { call, wire, at } = newCall();
    call.opened();
    call.sendKeys('12');
    for (let now = 20; now <= 3_000; now += 20) {
      if (now <= 100) call.sendAudio(loud, 8_000);
      else call.sendBackdrop(soft, 8_000);
      at(now);
    }
    // All of the voice is out, in one piece, and the background goes on behind it.
    const voice = packets(wire).map(isVoice);
    expect(voice.filter(Boolean)).toHaveLength(5);
    expect(voice.lastIndexOf(true) - voice.indexOf(true)).toBe(4);
    const first = packets(wire).indexOf(packets(wire).at(-1)!);
    expect(first).toBeGreaterThan(voice.lastIndexOf(true));
  });
});
