/**
 * `baresip` (Debian's baresip-core), a telephone with its own SIP, RTP, SRTP and codecs: it calls, plays a recording as its microphone,
 * and writes down what it hears.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseWav } from '../../../shared/audio/wav.ts';

const program = '/usr/bin/baresip';
/** Where Debian keeps its parts. */
const modules = ['/usr/lib/baresip/modules', '/usr/lib/x86_64-linux-gnu/baresip/modules'].find(existsSync);

/** Why these tests cannot run here, or undefined when they can. */
export const baresipMissing: string | undefined =
  existsSync(program) && modules !== undefined ? undefined : `${program} is not installed`;

export interface BaresipCall {
  readonly uri: string;
  /** As baresip names it, such as `PCMU/8000/1`. */
  readonly codec: string;
  readonly encryption?: 'srtp-mand';
  /** What is said, PCM16 at the codec's rate. */
  readonly says: Int16Array;
  readonly rate: number;
  readonly seconds: number;
}

export interface BaresipResult {
  /** What it printed. */
  readonly text: string;
  readonly heard: Int16Array;
}

/** PCM16 as a file, the same in every channel: baresip plays what has as many as the codec. */
function wav(mono: Int16Array, rate: number, channels: number): Buffer {
  const pcm = Int16Array.from(
    { length: mono.length * channels },
    (_, at) => mono[Math.floor(at / channels)]!,
  );
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + pcm.length * 2, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2 * channels, 28);
  head.writeUInt16LE(2 * channels, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(pcm.length * 2, 40);
  return Buffer.concat([head, Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)]);
}

function configure(folder: string, { codec, encryption, says, rate }: BaresipCall): void {
  mkdirSync(join(folder, 'heard'));
  writeFileSync(join(folder, 'says.wav'), wav(says, rate, Number(codec.split('/')[2])));
  const parts = ['stdio', 'g711', 'g722', 'opus', 'aufile', 'aubridge', 'sndfile', 'srtp'];
  const config = [
    'poll_method epoll',
    'sip_listen 127.0.0.1:0',
    'audio_player aubridge,nil',
    `audio_source aufile,${join(folder, 'says.wav')}`,
    'audio_alert aubridge,nil',
    'rtp_ports 22000-22998',
    `snd_path ${join(folder, 'heard')}`,
    `module_path ${modules ?? ''}`,
    ...parts.map((part) => `module ${part}.so`),
    'module_tmp uuid.so',
    'module_tmp account.so',
    'module_app menu.so',
  ];
  writeFileSync(join(folder, 'config'), `${config.join('\n')}\n`);
  writeFileSync(join(folder, 'contacts'), '');
  const keys = encryption === undefined ? '' : `;mediaenc=${encryption}`;
  writeFileSync(join(folder, 'accounts'), `<sip:test@127.0.0.1>;regint=0;audio_codecs=${codec}${keys}\n`);
}

/** Calls for a time, and hangs up. */
export async function baresipCall(call: BaresipCall): Promise<BaresipResult> {
  const folder = mkdtempSync(join(tmpdir(), 'baresip-'));
  try {
    configure(folder, call);
    const args = ['-f', folder, '-t', String(call.seconds), '-e', `/dial ${call.uri}`];
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += String(bytes)));
    await once(child, 'close');
    const name = readdirSync(join(folder, 'heard')).find((one) => one.endsWith('dec.wav'));
    const heard = name === undefined ? undefined : parseWav(readFileSync(join(folder, 'heard', name)));
    return { text, heard: heard?.pcm ?? new Int16Array() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Stretches of speech in seconds, with at least `pauseMs` of quiet between two. */
export function stretches(pcm: Int16Array, { rate, pauseMs }: { rate: number; pauseMs: number }): number[] {
  const window = rate / 50;
  const found: { from: number; to: number }[] = [];
  for (let at = 0; at + window <= pcm.length; at += window) {
    const power = pcm.subarray(at, at + window).reduce((sum, sample) => sum + sample * sample, 0) / window;
    if (power < 200 * 200) continue;
    const last = found.at(-1);
    if (last !== undefined && ((at - last.to) * 1000) / rate < pauseMs) last.to = at + window;
    else found.push({ from: at, to: at + window });
  }
  return found.map(({ from, to }) => (to - from) / rate);
}
