import { describe, expect, it } from 'vitest';
import { createCipheriv, createHmac } from 'node:crypto';
import { RtpHeader, SrtcpSession, SrtpSession } from 'werift';
import { srtpSuites, type SrtpSuite } from '../../../shared/sip/calls.ts';
import { Srtcp, SrtpReader, SrtpWriter } from '../../../worker/media/rtp/srtp.ts';
import { gcm } from '../../../worker/media/rtp/srtp-suite.ts';

const master = Buffer.from('e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6', 'hex').toString(
  'base64',
);
const plain = Buffer.from(`800f1234decafbadcafebabe${'ab'.repeat(16)}`, 'hex');
const suite = 'AES_CM_128_HMAC_SHA1_80';

describe('SRTP', () => {
  it('closes a packet to the bytes that every implementation makes of it', () => {
    const closed = new SrtpWriter(master, suite).close(plain, 0x1234);
    expect(closed.toString('hex')).toBe(
      '800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb',
    );
  });

  it('opens each packet once, and none that was changed', () => {
    const closed = new SrtpWriter(master, suite).close(plain, 0x1234);
    const reader = new SrtpReader(master, suite);
    const changed = Buffer.from(closed);
    changed[20] = (changed[20] ?? 0) ^ 1;
    expect(reader.open(changed)).toBeUndefined();
    expect(reader.open(closed)).toEqual(plain);
    expect(reader.open(closed)).toBeUndefined();
  });

  it('goes on over the turn of the sequence, and where another process was', () => {
    const writer = new SrtpWriter(master, 'AES_CM_128_HMAC_SHA1_32');
    const packet = (index: number): Buffer => {
      const bytes = Buffer.from(plain);
      bytes.writeUInt16BE(index & 0xffff, 2);
      return writer.close(bytes, index);
    };
    const reader = new SrtpReader(master, 'AES_CM_128_HMAC_SHA1_32');
    for (const index of [65_530, 65_535, 65_536, 65_534, 65_540])
      expect(reader.open(packet(index))).toBeDefined();
    const next = new SrtpReader(master, 'AES_CM_128_HMAC_SHA1_32');
    next.restore(reader.place!);
    expect(next.open(packet(65_536))).toBeUndefined();
    expect(next.open(packet(65_600))).toBeDefined();
  });
});

const suites = Object.keys(srtpSuites) as SrtpSuite[];
const masterOf = (one: SrtpSuite, fill: number): string =>
  Buffer.alloc(srtpSuites[one].key + srtpSuites[one].salt, fill).toString('base64');

describe.each(suites)('%s', (one) => {
  const [ours, theirs] = [masterOf(one, 1), masterOf(one, 2)];
  const own = { suite: one, local: ours, remote: theirs };

  it('opens what it closes, over the turn of the sequence, once, and nothing that was changed', () => {
    const writer = new SrtpWriter(ours, one);
    const reader = new SrtpReader(ours, one);
    for (const index of [65_534, 65_535, 65_536, 65_537]) {
      const packet = Buffer.from(plain);
      packet.writeUInt16BE(index & 0xffff, 2);
      const closed = writer.close(packet, index);
      for (const at of [1, 14, closed.length - 1]) {
        const changed = Buffer.from(closed);
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(reader.open(changed)).toBeUndefined();
      }
      expect(reader.open(closed)).toEqual(packet);
      expect(reader.open(closed)).toBeUndefined();
    }
  });

  it('opens packets and reports that name their key', () => {
    const mki = Buffer.from('00000001', 'hex');
    const named = (packet: Buffer, tagBytes: number): Buffer => {
      const at = packet.length - (one.startsWith('AEAD') ? 0 : tagBytes);
      return Buffer.concat([packet.subarray(0, at), mki, packet.subarray(at)]);
    };
    const audio = named(new SrtpWriter(ours, one).close(plain, 0x1234), one.endsWith('_32') ? 4 : 10);
    expect(new SrtpReader(ours, one, 4).open(audio)).toEqual(plain);
    expect(new SrtpReader(ours, one).open(audio)).toBeUndefined();
    const report = Buffer.from(`80c90001cafebabe81ca0001cafebabe`, 'hex');
    const peer = new Srtcp({ suite: one, local: theirs, remote: ours }, { sent: 0, heard: 0 });
    const side = new Srtcp({ ...own, mkiBytes: 4 }, { sent: 0, heard: 0 });
    expect(side.open(named(peer.close(report), 10))).toEqual(report);
    for (const bytes of [0, 3, 12]) expect(side.open(report.subarray(0, bytes))).toBeUndefined();
  });

  it('opens each report once, in another process too, and none in the clear', () => {
    const report = Buffer.from(`80c90001cafebabe81ca0001cafebabe`, 'hex');
    const place = { sent: 0, heard: 0 };
    const peer = new Srtcp({ suite: one, local: theirs, remote: ours }, { sent: 41, heard: 0 });
    const side = new Srtcp(own, place);
    const closed = peer.close(report);
    expect(closed.includes(report.subarray(8))).toBe(false);
    const changed = Buffer.from(closed);
    changed[9] = (changed[9] ?? 0) ^ 1;
    expect(side.open(changed)).toBeUndefined();
    expect(side.open(closed)).toEqual(report);
    expect(side.open(closed)).toBeUndefined();
    expect(new Srtcp(own, { ...place }).open(closed)).toBeUndefined();
    expect(side.open(peer.close(report))).toEqual(report);
    expect(side.open(report)).toBeUndefined();
    expect(side.open(Buffer.alloc(12))).toBeUndefined();
  });
});

describe.each([
  ['AES_CM_128_HMAC_SHA1_80', 1],
  ['AEAD_AES_128_GCM', 7],
] as const)('%s as another implementation has it', (one, profile) => {
  const [ours, theirs] = [masterOf(one, 1), masterOf(one, 2)];
  const parts = (text: string): { key: Buffer; salt: Buffer } => {
    const bytes = Buffer.from(text, 'base64');
    return { key: bytes.subarray(0, 16), salt: bytes.subarray(16) };
  };
  const [local, remote] = [parts(theirs), parts(ours)];
  const config = {
    profile,
    keys: {
      ...{ localMasterKey: local.key, localMasterSalt: local.salt },
      ...{ remoteMasterKey: remote.key, remoteMasterSalt: remote.salt },
    },
  };

  it('is opened there, and opens what comes from there', () => {
    const session = new SrtpSession(config);
    const closed = new SrtpWriter(ours, one).close(plain, 0x1234);
    expect(session.decrypt(closed)).toEqual(plain);
    const theirsClosed = session.encrypt(plain.subarray(12), RtpHeader.deSerialize(plain));
    expect(new SrtpReader(theirs, one).open(theirsClosed)).toEqual(plain);
  });

  it('has reports that both read', () => {
    const report = Buffer.from('80c90001cafebabe81ca0002cafebabe01020304', 'hex');
    const session = new SrtcpSession(config);
    const side = new Srtcp({ suite: one, local: ours, remote: theirs }, { sent: 7, heard: 0 });
    expect(session.decrypt(side.close(report))).toEqual(report);
    session.encrypt(report);
    expect(side.open(session.encrypt(report))).toEqual(report);
  });
});

it('AES-256 has the session keys of RFC 6188, 7.2', () => {
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  const secret = hex(
    'f0f04914b513f2763a1b1fa130f10e2998f6f6e43e4309d1e622a0e332b9f1b63b04803de51ee7c96423ab5b78d2',
  ).toString('base64');
  const key = hex('5ba1064e30ec51613cad926c5a28ef731ec7fb397f70a960653caf06554cd8c4');
  const salt = hex('fa31791685ca444a9e07c6c64e930000');
  const auth = hex('fd9c32d39ed5fbb5a9dc96b30818454d1313dc05');
  // A packet whose source and index are 0 leaves the salt as it is.
  const packet = Buffer.concat([hex('800f00000000000000000000'), Buffer.alloc(32)]);
  const covered = createCipheriv('aes-256-ctr', key, salt).update(Buffer.alloc(32));
  const body = Buffer.concat([packet.subarray(0, 12), covered]);
  const tag = createHmac('sha1', auth).update(body).update(Buffer.alloc(4)).digest().subarray(0, 10);
  const closed = new SrtpWriter(secret, 'AES_256_CM_HMAC_SHA1_80').close(packet, 0);
  expect(closed).toEqual(Buffer.concat([body, tag]));
});

describe.each([
  {
    bits: 128,
    audio:
      'f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833899d7f27beb16a9152cf765ee4390cce',
    report:
      '63e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade',
  },
  {
    bits: 256,
    audio:
      '32b1de78a822fe12ef9f78fa332e33aab18012389a58e2f3b50b2a0276ffae0f1ba63799b87b7aa3db36dfffd6b0f9bb7878d7a76c13',
    report:
      'd50ae4d1f5ce5d304ba297e47d470c282c3ece5dbffe0a50a2eaa5c1110555be8415f658c61de0476f1b6fad1d1eb30c4446839f57ff6f6cb26ac3be',
  },
])('AES-GCM with $bits bits has the packets of RFC 7714', ({ bits, ...closed }) => {
  const hex = (text: string): Buffer => Buffer.from(text, 'hex');
  const keys = { key: Buffer.from([...Array(bits / 8).keys()]), salt: hex('517569642070726f2071756f') };
  const packets = {
    audio: {
      head: hex('8040f17b8041f8d35501a0b2'),
      body: Buffer.from('Gallia est omnis divisa in partes tres'),
      trailer: hex('00000000'),
      ...{ ssrc: 0x5501_a0b2, index: 0xf17b },
    },
    report: {
      head: hex('81c8000d4d617273'),
      body: hex(`4e5450314e545032525450200000042a0000e9304c756e61${'deadbeef'.repeat(5)}`),
      trailer: hex('800005d4'),
      ...{ ssrc: 0x4d61_7273, index: 0x5d4 },
    },
  };

  it.each([
    ['audio (16)', 'audio', 'audio'],
    ['reports (17)', 'report', 'reports'],
  ] as const)('for %s', (_, name, kind) => {
    const packet = packets[name];
    const cipher = gcm(keys, kind);
    const { body, tag } = cipher.close(packet);
    expect(Buffer.concat([body, tag]).toString('hex')).toBe(closed[name]);
    expect(cipher.open({ ...packet, body }, tag)).toEqual(packet.body);
  });
});
