/** The small parts of the voice: text for the synthesizer, the rate change, and the pool of threads. */
import { describe, expect, it } from 'vitest';
import { findSpeech, highPass, to24k, withoutLeadIn } from '../../../examples/demo/audio.ts';
import { Abandoned, QueueFull, ThreadPool } from '../../../examples/demo/thread-pool.ts';
import { sentences, speakable } from '../../../examples/demo/voices.ts';

describe('text for the synthesizer', () => {
  it.each([
    ['It is 7:30 PM.', 'It is seven 30 p m.'],
    ['It is 12:16 PM.', 'It is twelve 16 p m.'],
    ['At 8:00 p.m. today', 'At 8 p m today'],
    ['At 10:00, or 9:05', "At 10 o'clock, or nine oh five"],
    ['Café – naïve', 'Cafe , naive'],
    ['“Quoted” **bold** & more', 'Quoted bold and more'],
    ['20 °C, 50%, €5', '20 degrees Celsius, 50 percent, 5 euros'],
    ['it’s -3', "it's minus 3"],
    ['日本 😀', ''],
  ])('reads %j', (text, spoken) => {
    expect(speakable(text)).toBe(spoken);
  });

  it('cuts at the ends of sentences and not inside numbers', () => {
    expect(sentences('Hello! It costs 3.50 euros. Right? Yes')).toEqual([
      'Hello!',
      'It costs 3.50 euros.',
      'Right?',
      'Yes',
    ]);
    expect(sentences(' ... \n!')).toEqual([]);
  });

  it('loses no word of a long text without stops', () => {
    const words = Array.from({ length: 300 }, (_, index) => `word${index}`);
    const parts = sentences(words.join(' '));
    expect(parts.every((part) => part.length <= 400)).toBe(true);
    expect(parts.join(' ').split(' ')).toEqual(words);
  });
});

describe('sound', () => {
  /** Level in dB of one frequency in the middle of a signal. */
  function level(samples: ArrayLike<number>, hz: number, rate: number): number {
    const from = Math.floor(samples.length / 4);
    const count = Math.floor(samples.length / 2);
    let [re, im, norm] = [0, 0, 0];
    for (let n = 0; n < count; n += 1) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / count);
      const phase = (2 * Math.PI * hz * n) / rate;
      re += window * samples[from + n]! * Math.cos(phase);
      im += window * samples[from + n]! * Math.sin(phase);
      norm += window / 2;
    }
    return 20 * Math.log10(Math.hypot(re, im) / norm / 10_000 + 1e-9);
  }
  const tone = (hz: number): Int16Array =>
    Int16Array.from({ length: 16_000 }, (_, at) =>
      Math.round(10_000 * Math.sin((2 * Math.PI * hz * at) / 16_000)),
    );

  it.each([200, 1000, 3000, 6500])('keeps a tone of %i Hz and adds no image above 8 kHz', (hz) => {
    const out = to24k(tone(hz));
    expect(out).toHaveLength(24_000);
    expect(Math.abs(level(out, hz, 24_000))).toBeLessThan(0.2);
    expect(level(out, 16_000 - hz > 12_000 ? 24_000 - (16_000 - hz) : 16_000 - hz, 24_000)).toBeLessThan(-60);
  });

  it('removes hum and keeps speech frequencies', () => {
    const at = (hz: number): number => level(highPass(Float32Array.from(tone(hz)), 100), hz, 16_000);
    expect(at(25)).toBeLessThan(-20);
    expect(Math.abs(at(1000))).toBeLessThan(0.1);
  });

  it('finds speech between silences and scales it', () => {
    const samples = new Float32Array(48_000);
    for (let at = 16_000; at < 32_000; at += 1) samples[at] = 0.1 * Math.sin(at / 4);
    const speech = findSpeech(samples)!;
    expect(speech.samples.length).toBe(16_000 + 2 * 20 * 160);
    expect(speech.loudMs).toBe(1000);
    expect(Math.max(...speech.samples)).toBeCloseTo(10 ** (-3 / 20), 2);
  });
});

describe('the pool of threads', () => {
  /** Echoes what it gets; throws, dies or keeps silent on command. */
  const thread = `
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', (request) => {
      if (request === 'die') process.exit(3);
      if (request === 'fail') parentPort.postMessage({ error: 'it failed' });
      else if (request !== 'hang') parentPort.postMessage({ answer: request });
    });
    parentPort.postMessage({ ready: true });
  `;
  const entry = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const pool = (threads: number, maxQueued: number): ThreadPool =>
    new ThreadPool({ entry: entry(thread), threads, maxQueued });

  it('answers every job and passes errors on', async () => {
    const threads = pool(2, 10);
    expect(await Promise.all([1, 2, 3, 4, 5].map((request) => threads.run(request)))).toEqual([
      1, 2, 3, 4, 5,
    ]);
    await expect(threads.run('fail')).rejects.toThrow('it failed');
    await threads.close();
  });

  it('refuses more than its queue holds', async () => {
    const threads = pool(1, 2);
    const jobs = [threads.run('a'), threads.run('b')];
    await expect(threads.run('c')).rejects.toThrow(QueueFull);
    expect(await Promise.all(jobs)).toEqual(['a', 'b']);
    await threads.close();
  });

  it('replaces a thread that dies and fails only its job', async () => {
    const threads = pool(1, 5);
    const died = threads.run('die');
    const after = threads.run('after');
    await expect(died).rejects.toThrow('stopped in the middle');
    expect(await after).toBe('after');
    await threads.close();
  });

  it('drops a job whose owner is gone', async () => {
    const threads = pool(1, 5);
    const hanging = threads.run('hang').catch((error: unknown) => error);
    const owner = new AbortController();
    const job = threads.run('never', { signal: owner.signal });
    owner.abort();
    await expect(job).rejects.toThrow(Abandoned);
    await threads.close();
    expect(await hanging).toBeInstanceOf(Error);
  });

  it('fails its jobs when no thread ever starts', async () => {
    const threads = new ThreadPool({ entry: entry('process.exit(1)'), threads: 1, maxQueued: 5 });
    await expect(threads.run('x')).rejects.toThrow('not running');
    await expect(threads.run('y')).rejects.toThrow('not running');
  });
});

describe('the silence before a sentence', () => {
  const sentence = (leadMs: number): Int16Array =>
    Int16Array.from({ length: 16 * (leadMs + 10) }, (_, at) => (at < 16 * leadMs ? (at % 3) * 50 : 5_000));

  it.each([
    [200, 60],
    [60, 60],
    [30, 30],
    [0, 0],
  ])('of %i ms is cut to %i ms', (leadMs, keptMs) => {
    expect(withoutLeadIn(sentence(leadMs))).toEqual(sentence(leadMs).subarray(16 * (leadMs - keptMs)));
  });

  it('is all there is of a sentence without sound', () => {
    expect(withoutLeadIn(new Int16Array(160))).toHaveLength(160);
  });
});
