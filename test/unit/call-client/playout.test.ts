/** The caller's loudspeaker on virtual time. */
import { describe, expect, it } from 'vitest';
import { CallPlayout } from '../../../cli/commands/call/call-playout.ts';

const RATE = 8000;
const frame = (value: number): Int16Array => new Int16Array(160).fill(value);

/** Pushes `count` loud frames, one every 20 ms from `fromMs`. */
function speak(playout: CallPlayout, options: { fromMs: number; count: number; value?: number }): void {
  for (let k = 0; k < options.count; k++) playout.push(frame(options.value ?? 5000), options.fromMs + k * 20);
}

describe('CallPlayout', () => {
  it('plays frames one after the other, and absorbs one that comes late', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 40 });
    playout.push(frame(1), 100);
    playout.push(frame(2), 120);
    playout.push(frame(3), 175);
    const heard = playout.heard(300);
    expect(heard).toHaveLength(2400);
    expect(heard.indexOf(1)).toBe(140 * 8);
    expect(heard.indexOf(2)).toBe(160 * 8);
    expect(heard.indexOf(3)).toBe(180 * 8);
    expect(heard[200 * 8]).toBe(0);
  });

  it('leaves a hole where nothing came in time', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0 });
    playout.push(frame(1), 0);
    playout.push(frame(2), 50);
    const heard = playout.heard(100);
    expect(heard[20 * 8 - 1]).toBe(1);
    expect(heard[20 * 8]).toBe(0);
    expect(heard.indexOf(2)).toBe(50 * 8);
  });

  it('has heard only what was played by now', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0 });
    for (let k = 0; k < 10; k++) playout.push(frame(7), 0);
    expect([...playout.heard(30)].filter((v) => v === 7)).toHaveLength(240);
    expect(playout.waitingMs(30)).toBe(170);
  });

  it('gives a mark when the audio before it has finished, and once only', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 40 });
    playout.push(frame(1), 0);
    playout.mark('a');
    playout.push(frame(1), 20);
    playout.mark('b');
    expect(playout.finishedMarks(59.9)).toEqual([]);
    expect(playout.finishedMarks(playout.nextMarkMs()!)).toEqual(['a']);
    expect(playout.finishedMarks(79.9)).toEqual([]);
    expect(playout.finishedMarks(200)).toEqual(['b']);
    expect(playout.finishedMarks(300)).toEqual([]);
    expect(playout.nextMarkMs()).toBeUndefined();
  });

  it('gives a mark at once when nothing waits', () => {
    const playout = new CallPlayout({ sampleRate: RATE });
    playout.mark('early');
    expect(playout.finishedMarks(0)).toEqual(['early']);
    speak(playout, { fromMs: 10, count: 1 });
    playout.mark('late');
    expect(playout.finishedMarks(500)).toEqual(['late']);
  });

  it('names a time for the next mark at which it is really due, at every rate', () => {
    for (const sampleRate of [8000, 16_000, 22_050, 24_000, 44_100, 48_000]) {
      const playout = new CallPlayout({ sampleRate, prebufferMs: 13.7 });
      for (let k = 0; k < 50; k++) {
        playout.push(new Int16Array(sampleRate / 50), k * 20.3);
        playout.mark(String(k));
        expect(playout.finishedMarks(playout.nextMarkMs()!)).toEqual([String(k)]);
      }
    }
  });

  it('drops on clear what was not played, the running frame from this sample on, and the marks', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0 });
    for (let k = 0; k < 5; k++) playout.push(frame(9), 0);
    playout.mark('cut');
    expect(playout.clear(50)).toBe(50);
    expect(playout.finishedMarks(1000)).toEqual([]);
    const heard = playout.heard(200);
    expect([...heard].filter((v) => v === 9)).toHaveLength(400);
    expect(heard.lastIndexOf(9)).toBe(399);
    expect(playout.clear(60)).toBe(0);
  });

  it('plays what follows a clear anew', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 40 });
    for (let k = 0; k < 5; k++) playout.push(frame(9), 0);
    playout.clear(60);
    playout.push(frame(4), 70);
    expect(playout.heard(200).indexOf(4)).toBe(110 * 8);
  });

  it('forgets nothing that was played when a clear comes long after', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0 });
    speak(playout, { fromMs: 0, count: 3 });
    playout.clear(500);
    expect([...playout.heard(600)].filter((v) => v === 5000)).toHaveLength(480);
    expect(playout.speech()).toEqual([{ startMs: 0, endMs: 60, arrivedMs: 0 }]);
  });

  it('knows the stretches of speech, over short pauses and silent frames', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 40 });
    speak(playout, { fromMs: 0, count: 10 });
    speak(playout, { fromMs: 200, count: 10, value: 0 });
    speak(playout, { fromMs: 400, count: 10 });
    speak(playout, { fromMs: 600, count: 100, value: 0 });
    speak(playout, { fromMs: 3000, count: 5 });
    expect(playout.speech()).toEqual([
      { startMs: 40, endMs: 640, arrivedMs: 0 },
      { startMs: 3040, endMs: 3140, arrivedMs: 3000 },
    ]);
  });

  it('ends a stretch of speech at a clear, and begins another behind it', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0 });
    speak(playout, { fromMs: 0, count: 10 });
    playout.clear(110);
    playout.push(frame(5000), 190);
    expect(playout.speech()).toEqual([
      { startMs: 0, endMs: 110, arrivedMs: 0 },
      { startMs: 190, endMs: 210, arrivedMs: 190 },
    ]);
  });

  it('refuses audio and marks beyond its bounds', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0, maxWaitingMs: 100 });
    const taken = Array.from({ length: 10 }, () => playout.push(frame(1), 0));
    expect(taken.filter(Boolean)).toHaveLength(6);
    let marks = 0;
    while (marks < 20_000 && playout.mark('m')) marks++;
    expect(marks).toBe(10_000);
  });

  it('keeps no more than it may', () => {
    const playout = new CallPlayout({ sampleRate: RATE, prebufferMs: 0, maxHeardMs: 100 });
    speak(playout, { fromMs: 0, count: 50 });
    expect(playout.heard(1000)).toHaveLength(800);
  });
});
