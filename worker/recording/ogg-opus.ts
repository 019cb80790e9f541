/**
 * Both sides as stereo Opus in an Ogg file (RFC 7845), of the very length of the call: what the codec puts before the first sample is
 * named in the header, what it pads behind the last one is cut off by the position of the last page.
 */
import { FRAME_MS } from '../../shared/base/units.ts';
import { opusClockRate, type OpusRate } from '../media/opus/opus.ts';
import { others, type Sound } from './sound.ts';

/** Both sides together, while both speak. */
const bitrate = 48_000;
/** A higher one costs up to twice as much, and makes no file smaller (docs/measurements/watching.md). */
const complexity = 1;
/** Packets of a page, which is one second; a page holds 255 small ones at most. */
const packetsPerPage = 50;
/** One stream is in a file, so that its number says nothing. */
const serial = 1;
const vendor = 'voice-agent-service';

export async function writeOpus(sound: Sound, rate: OpusRate): Promise<void> {
  const frameSize = (rate * FRAME_MS) / 1000;
  // Loaded by the first recording that needs it, not by every worker.
  const { Application, createEncoder } = await import('libopus-wasm');
  const encoder = await createEncoder({
    sampleRate: rate,
    channels: 2,
    application: Application.Voip,
    frameSize,
    bitrate,
    complexity,
    dtx: true,
  });
  try {
    const lookahead = encoder.getLookahead();
    // Positions in the file count samples of this rate, whatever the codec's own is.
    const perSample = opusClockRate / rate;
    let pages = 0;
    const page = (packets: readonly Uint8Array[], position: number, flags = 0): void =>
      sound.write(oggPage({ packets, position, flags, sequence: pages++ }));
    page([idHeader(lookahead * perSample, rate)], 0, pageFlags.first);
    page([commentHeader()], 0);
    const frames = Math.max(1, Math.ceil((sound.samples + lookahead) / frameSize));
    for (let first = 0; first < frames; first += packetsPerPage) {
      const behind = Math.min(frames, first + packetsPerPage);
      const both = sound.woven(first * frameSize, (behind - first) * frameSize);
      const packets = Array.from({ length: behind - first }, (_, index) =>
        encoder.encode(both.subarray(index * frameSize * 2, (index + 1) * frameSize * 2)).slice(),
      );
      const isLast = behind === frames;
      const samples = isLast ? sound.samples + lookahead : behind * frameSize;
      page(packets, samples * perSample, isLast ? pageFlags.last : 0);
      await others();
    }
  } finally {
    encoder.free();
  }
}

/** RFC 7845, 5.1. */
function idHeader(preSkip: number, rate: number): Uint8Array {
  const header = Buffer.alloc(19);
  header.write('OpusHead', 0, 'latin1');
  header.writeUInt8(1, 8);
  header.writeUInt8(2, 9);
  header.writeUInt16LE(preSkip, 10);
  header.writeUInt32LE(rate, 12);
  return header;
}

/** RFC 7845, 5.2. */
function commentHeader(): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(vendor.length);
  return Buffer.concat([Buffer.from('OpusTags'), length, Buffer.from(vendor), Buffer.alloc(4)]);
}

const pageFlags = { first: 2, last: 4 } as const;

interface Page {
  readonly packets: readonly Uint8Array[];
  /** Samples up to the end of this page. */
  readonly position: number;
  readonly flags: number;
  readonly sequence: number;
}

/** RFC 3533, 6. */
function oggPage({ packets, position, flags, sequence }: Page): Uint8Array {
  const lacing = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / 255) }, () => 255),
    length % 255,
  ]);
  const header = Buffer.alloc(27);
  header.write('OggS', 0, 'latin1');
  header.writeUInt8(flags, 5);
  header.writeBigUInt64LE(BigInt(Math.round(position)), 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header.writeUInt8(lacing.length, 26);
  const page = Buffer.concat([header, Uint8Array.from(lacing), ...packets]);
  page.writeUInt32LE(checksum(page), 22);
  return page;
}

/** CRC-32 with the polynomial 0x04c11db7, the highest bit first, neither inverted before nor after. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24;
  for (let bit = 0; bit < 8; bit += 1) value = value < 0 ? (value << 1) ^ 0x04c1_1db7 : value << 1;
  return value;
});

function checksum(page: Uint8Array): number {
  let crc = 0;
  for (const byte of page) crc = (crc << 8) ^ (crcTable[((crc >>> 24) ^ byte) & 255] ?? 0);
  return crc >>> 0;
}
