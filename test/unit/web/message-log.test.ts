import { describe, expect, it } from 'vitest';
import { formatLength, formatMs, meterShare } from '../../../web/figures.ts';
import { MessageLog } from '../../../web/message-log.ts';

describe('the message log', () => {
  it('counts audio in one row that stays where the audio began', () => {
    const log = new MessageLog();
    for (let atMs = 0; atMs < 1_000; atMs += 20) log.audio('received', atMs, 20);
    log.add('received', 1_000, { label: 'mark', detail: 'id a' });
    expect(log.rows.map(({ label, detail }) => [label, detail])).toEqual([
      ['audio', '1.0 s in 50 frames'],
      ['mark', 'id a'],
    ]);
  });

  it('begins a new row of audio after a gap and after a cut', () => {
    const log = new MessageLog();
    for (const atMs of [0, 20, 600]) log.audio('received', atMs, 20);
    log.cutAudio('received');
    log.audio('received', 620, 20);
    expect(log.rows.map(({ detail }) => detail)).toEqual([
      '0.0 s in 2 frames',
      '0.0 s in 1 frame',
      '0.0 s in 1 frame',
    ]);
  });

  it('keeps the two directions of audio apart', () => {
    const log = new MessageLog();
    for (const atMs of [0, 20]) {
      log.audio('sent', atMs, 20);
      log.audio('received', atMs, 20);
    }
    expect(log.rows.map(({ direction }) => direction)).toEqual(['sent', 'received']);
  });

  it('holds the newest rows and shows running audio again when its row was pushed out', () => {
    const log = new MessageLog(3);
    log.audio('sent', 0, 20);
    for (let index = 0; index < 5; index += 1) log.add('received', 10, { label: `m${index}` });
    log.audio('sent', 20, 20);
    expect(log.rows.map(({ label }) => label)).toEqual(['m3', 'm4', 'audio']);
  });
});

describe('the figures', () => {
  it('show levels on a scale of 60 dB', () => {
    expect([0, 0.001, 1, 2].map(meterShare)).toEqual([0, 0, 1, 1]);
    expect(meterShare(0.0316)).toBeCloseTo(0.5, 2);
  });

  it('show times and lengths', () => {
    expect([undefined, 640.4, 1_234].map(formatMs)).toEqual(['–', '640 ms', '1.23 s']);
    expect([0, 61_900, 600_000, 3_599_999, 3_600_000, 7_265_000].map(formatLength)).toEqual([
      ...['0:00', '1:01', '10:00', '59:59', '1:00:00', '2:01:05'],
    ]);
  });
});
