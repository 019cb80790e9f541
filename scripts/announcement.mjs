// `npm run announcement`: speaks an announcement with the demo's voice; the one that ships says the text that the configuration declares for it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureInstalled } from './install.mjs';
import { answerHelp } from './process/help.mjs';

answerHelp(`usage: npm run announcement [-- FILE.wav "TEXT"] [--voice NAME] [--speed X] [--rate HZ]
  Speaks an announcement with the demo's voice. Without FILE it makes the one that ships, worker/announcements/en.wav.`);

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    voice: { type: 'string', default: 'slt' },
    speed: { type: 'string', default: '1.15' },
    rate: { type: 'string', default: '16000' },
  },
});

await ensureInstalled({ dev: false });
const { build } = await import('esbuild');
// Inside the project, because the voice looks for its module from where its code is.
const outfile = join(root, 'dist/announcement/main.mjs');
await build({
  stdin: {
    contents: `export { fliteSampleRate, loadFlite } from './examples/demo/flite.ts';
      export { sentences, speakable } from './examples/demo/voices.ts';
      export { newResampler } from './shared/audio/resampler.ts';
      export { writeWav } from './shared/audio/wav.ts';
      export { shippedAnnouncement } from './shared/config/agent/texts.ts';`,
    resolveDir: root,
    loader: 'ts',
  },
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  logLevel: 'warning',
});
const voice = await import(pathToFileURL(outfile).href);

const [file = join(root, 'worker/announcements/en.wav'), text = voice.shippedAnnouncement('en')] =
  positionals;
const [rate, speed] = [Number(values.rate), Number(values.speed)];

/** Half of full scale: speech of this peak is as loud as a caller expects on the phone. */
const peak = 16_000;
/** What is quieter, of 32,768, is no part of a word. */
const silence = 200;
/** Silence that is left at both ends of a sentence, in seconds. */
const marginS = 0.1;

function trimmed(pcm) {
  const margin = Math.round(marginS * voice.fliteSampleRate);
  const first = pcm.findIndex((sample) => Math.abs(sample) > silence);
  const last = pcm.findLastIndex((sample) => Math.abs(sample) > silence);
  return pcm.subarray(Math.max(0, first - margin), last + margin);
}

function levelled(pcm) {
  const loudest = pcm.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  return pcm.map((sample) => Math.round((sample * peak) / loudest));
}

function atRate(pcm) {
  const resampler = voice.newResampler({ from: voice.fliteSampleRate, to: rate });
  const parts = [resampler.process(pcm).slice(), resampler.flush().slice()];
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

const speak = await voice.loadFlite();
const sentences = voice.sentences(voice.speakable(text));
const spoken = sentences.map((sentence) => trimmed(speak(sentence, { voice: values.voice, speed })));
const pcm = atRate(levelled(Int16Array.from(spoken.flatMap((part) => [...part]))));
writeFileSync(file, voice.writeWav(pcm, rate));
console.log(`${file}: ${(pcm.length / rate).toFixed(2)} s, ${44 + 2 * pcm.length} bytes`);
