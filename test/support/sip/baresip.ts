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
  /** Whom it calls; without it, it waits to be called, and answers. */
  readonly uri?: string;
  /** Where it registers, and signs in by the name in its address. */
  readonly account?: { readonly address: string; readonly password: string };
  /** As baresip names it, such as `PCMU/8000/1`. */
  readonly codec: string;
  readonly encryption?: 'srtp-mand';
  /** What is said once the other side has said something and is quiet, and each time again; PCM16 at the codec's rate. */
  readonly says: Int16Array;
  readonly rate: number;
  /** It hangs up then, or sooner: when the other side has said something again and is quiet. */
  readonly seconds: number;
  /** `insists`: until the other side hangs up. `machine`: says it at once and once, and waits for the other side to hang up. */
  readonly manner?: 'insists' | 'machine';
}

/** The other side has finished. */
export const pauseMs = 1_500;
const lookEveryMs = 200;
const wavHeadBytes = 44;

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

const channelsOf = (codec: string): number => Number(codec.split('/')[2]);

function accountOf({ account, codec, encryption, uri }: BaresipCall): string {
  const who =
    account === undefined
      ? '<sip:test@127.0.0.1>;regint=0'
      : `<${account.address}>;auth_pass=${account.password};regint=60`;
  const keys = encryption === undefined ? '' : `;mediaenc=${encryption}`;
  return `${who};audio_codecs=${codec}${keys}${uri === undefined ? ';answermode=auto' : ''}\n`;
}

function configure(folder: string, call: BaresipCall): void {
  const { codec, says, rate, seconds } = call;
  mkdirSync(join(folder, 'heard'));
  const channels = channelsOf(codec);
  writeFileSync(join(folder, 'quiet.wav'), wav(new Int16Array(rate * seconds), rate, channels));
  const words = new Int16Array(says.length + rate * seconds);
  words.set(says);
  writeFileSync(join(folder, 'says.wav'), wav(words, rate, channels));
  const parts = ['stdio', 'g711', 'g722', 'opus', 'aufile', 'aubridge', 'sndfile', 'srtp'];
  const config = [
    'poll_method epoll',
    'sip_listen 127.0.0.1:0',
    'audio_player aubridge,nil',
    `audio_source aufile,${join(folder, call.manner === 'machine' ? 'says.wav' : 'quiet.wav')}`,
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
  writeFileSync(join(folder, 'accounts'), accountOf(call));
}

/** What was heard so far, of files whose heads are written last. */
function heardSoFar(folder: string, { codec, rate }: BaresipCall): Stretch[] {
  const bytes = Buffer.concat(heardFiles(folder).map((file) => file.subarray(wavHeadBytes)));
  const samples = Math.floor(bytes.length / 2);
  const pcm = Int16Array.from({ length: samples }, (_, at) => bytes.readInt16LE(2 * at));
  const perSecond = rate * channelsOf(codec);
  const found = stretchesOf(pcm, { rate: perSecond, pauseMs });
  const last = found.at(-1);
  const isQuiet = last !== undefined && ((pcm.length - last.to) * 1000) / perSecond >= pauseMs;
  return isQuiet ? found : found.slice(0, -1);
}

/** Files are named by the second: where its audio begins anew in a call, as it may by a re-INVITE, there can be several. */
const heardFiles = (folder: string): Buffer[] =>
  readdirSync(join(folder, 'heard'))
    .filter((name) => name.endsWith('dec.wav'))
    .toSorted()
    .map((name) => readFileSync(join(folder, 'heard', name)))
    .filter(({ length }) => length > wavHeadBytes);

/** Calls or is called, says what it has to say, hears the answer and hangs up, unless the other side does. */
export async function baresipCall(call: BaresipCall): Promise<BaresipResult> {
  const folder = mkdtempSync(join(tmpdir(), 'baresip-'));
  try {
    configure(folder, call);
    const dial = call.uri === undefined ? [] : ['-e', `/dial ${call.uri}`];
    const args = ['-f', folder, '-t', String(call.seconds), ...dial];
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += String(bytes)));
    let answered = call.manner === 'machine' ? Infinity : 0;
    const look = setInterval(() => {
      const { length } = heardSoFar(folder, call);
      if ((length >= 2 && call.manner === undefined) || /session closed|terminated/.test(text))
        child.kill('SIGTERM');
      else if (length > answered) {
        answered = length;
        child.stdin.write(`/ausrc aufile,${join(folder, 'says.wav')}\n`);
      }
    }, lookEveryMs);
    await once(child, 'close').finally(() => clearInterval(look));
    const heard = heardFiles(folder).flatMap((file) => [...parseWav(file).pcm]);
    return { text, heard: Int16Array.from(heard) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Stretch {
  from: number;
  to: number;
}

/** Stretches of speech in seconds, with at least `pauseMs` of quiet between two. */
export const stretches = (pcm: Int16Array, options: { rate: number; pauseMs: number }): number[] =>
  stretchesOf(pcm, options).map(({ from, to }) => (to - from) / options.rate);

function stretchesOf(pcm: Int16Array, { rate, pauseMs }: { rate: number; pauseMs: number }): Stretch[] {
  const window = rate / 50;
  const found: Stretch[] = [];
  for (let at = 0; at + window <= pcm.length; at += window) {
    const power = pcm.subarray(at, at + window).reduce((sum, sample) => sum + sample * sample, 0) / window;
    if (power < 200 * 200) continue;
    const last = found.at(-1);
    if (last !== undefined && ((at - last.to) * 1000) / rate < pauseMs) last.to = at + window;
    else found.push({ from: at, to: at + window });
  }
  return found;
}
