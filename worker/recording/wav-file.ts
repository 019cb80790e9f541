/** Both sides as a stereo WAV of any length, written in parts. */
import { others, type Sound } from './sound.ts';

const headerBytes = 44;
/** Samples of each side that are woven at once. */
const samplesAtOnce = 256 * 1024;
const largestSize = 0xffff_ffff;

export async function writeWav(sound: Sound, rate: number): Promise<void> {
  const { samples } = sound;
  sound.write(stereoHeader(samples, rate));
  for (let from = 0; from < samples; from += samplesAtOnce) {
    const both = sound.woven(from, Math.min(samplesAtOnce, samples - from));
    sound.write(new Uint8Array(both.buffer));
    await others();
  }
}

function stereoHeader(samples: number, rate: number): Uint8Array {
  const size = samples * 4;
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  // A file that is too long for its header is read to its end.
  header.writeUInt32LE(Math.min(largestSize, 36 + size), 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 4, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(Math.min(largestSize, size), 40);
  return header;
}
