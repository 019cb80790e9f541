// Measures the resampler.
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../../install.mjs';
import { answerHelp } from '../../process/help.mjs';

answerHelp(`usage: node scripts/measure/bench/resampler.mjs [--all]
  Measures the resampler: cost of a frame of 20 ms, worst alias or image, and loss at 0.8 of the lower Nyquist frequency.`);
await ensureInstalled({ dev: false });
const { build } = await import('esbuild');

const contents = `export { newResampler } from './audio/resampler.ts'; export { SAMPLE_RATES } from './base/units.ts';`;
const resolveDir = fileURLToPath(new URL('../../../shared', import.meta.url));
const bundle = await build({ stdin: { contents, resolveDir }, bundle: true, format: 'esm', write: false });
const code = Buffer.from(bundle.outputFiles[0].contents).toString('base64');
const { newResampler, SAMPLE_RATES } = await import(`data:text/javascript;base64,${code}`);

const AMPLITUDE = 28_000;

function sine({ hz, rate, length }) {
  return Int16Array.from({ length }, (_, i) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * hz * i) / rate)),
  );
}

/** Amplitude at `hz` in a Hann-like (Blackman-Harris) window, so that neighbours do not leak. */
function amplitude(signal, { hz, rate }) {
  let re = 0;
  let im = 0;
  let weight = 0;
  const n = signal.length;
  for (let i = 0; i < n; i++) {
    const p = (2 * Math.PI * i) / n;
    const w = 0.35875 - 0.48829 * Math.cos(p) + 0.14128 * Math.cos(2 * p) - 0.01168 * Math.cos(3 * p);
    const q = (2 * Math.PI * hz * i) / rate;
    re += signal[i] * w * Math.cos(q);
    im += signal[i] * w * Math.sin(q);
    weight += w;
  }
  return (2 * Math.hypot(re, im)) / weight;
}

const decibel = (ratio) => 20 * Math.log10(Math.max(ratio, 1e-9));
const folded = (hz, rate) => Math.abs(hz - Math.round(hz / rate) * rate);

function response({ from, to }, hz) {
  const out = newResampler({ from, to }).process(sine({ hz, rate: from, length: Math.round(from * 0.5) }));
  return Int16Array.from(out.subarray(Math.round(to * 0.05)));
}

/** Loudest unwanted component: what folds down from above, or the images of what lies inside. */
function worstUnwanted({ from, to }) {
  let worst = -200;
  const steps = 24;
  if (to < from) {
    for (let k = 0; k <= steps; k++) {
      const hz = to / 2 + 10 + ((from / 2 - to / 2 - 30) * k) / steps;
      const at = folded(hz, to);
      worst = Math.max(
        worst,
        decibel(amplitude(response({ from, to }, hz), { hz: at, rate: to }) / AMPLITUDE),
      );
    }
    return worst;
  }
  for (let k = 1; k <= steps; k++) {
    const hz = ((from / 2 - 10) * k) / steps;
    const out = response({ from, to }, hz);
    for (let image = 1; image * from - hz < to / 2; image++) {
      for (const at of [image * from - hz, image * from + hz]) {
        if (at < to / 2) worst = Math.max(worst, decibel(amplitude(out, { hz: at, rate: to }) / AMPLITUDE));
      }
    }
  }
  return worst;
}

function ripple(pair) {
  const low = Math.min(pair.from, pair.to) / 2;
  let worst = 0;
  for (const part of [0.02, 0.2, 0.4, 0.6, 0.7, 0.75, 0.78, 0.8]) {
    const hz = low * part;
    const db = decibel(amplitude(response(pair, hz), { hz, rate: pair.to }) / AMPLITUDE);
    if (Math.abs(db) > Math.abs(worst)) worst = db;
  }
  return worst;
}

/** Median over rounds of the mean cost of a frame, in microseconds. */
function costOf(pair) {
  const frame = sine({ hz: 440, rate: pair.from, length: pair.from / 50 });
  const calls = Array.from({ length: 20 }, () => newResampler(pair));
  const rounds = [];
  for (let round = 0; round < 30; round++) {
    const start = performance.now();
    for (let k = 0; k < 10; k++) for (const call of calls) call.process(frame);
    rounds.push(((performance.now() - start) * 1000) / (10 * calls.length));
  }
  return rounds.sort((a, b) => a - b)[15];
}

const chosen = [
  [48_000, 16_000],
  [48_000, 24_000],
  [48_000, 8000],
  [24_000, 48_000],
  [24_000, 16_000],
  [24_000, 8000],
  [8000, 16_000],
  [16_000, 8000],
  [8000, 48_000],
  [44_100, 16_000],
  [24_000, 44_100],
  [22_050, 16_000],
];
const every = SAMPLE_RATES.flatMap((from) =>
  SAMPLE_RATES.filter((to) => to !== from).map((to) => [from, to]),
);
console.log('from -> to        us/20 ms   alias dB   worst passband dB (to 0.8)   delay ms');
for (const [from, to] of process.argv.includes('--all') ? every : chosen) {
  const pair = { from, to };
  const cells = [costOf(pair).toFixed(1), worstUnwanted(pair).toFixed(1), ripple(pair).toFixed(2)];
  const delay = newResampler(pair).delayMs.toFixed(2);
  console.log(
    `${String(from).padStart(5)} -> ${String(to).padEnd(6)} ${cells[0].padStart(9)} ${cells[1].padStart(10)} ${cells[2].padStart(12)} ${delay.padStart(22)}`,
  );
}
