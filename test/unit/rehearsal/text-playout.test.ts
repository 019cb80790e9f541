import { describe, expect, it } from 'vitest';
import { msPerChar, TextPlayout } from '../../../cli/rehearsal/text-playout.ts';

function speaking(text: string): TextPlayout {
  const playout = new TextPlayout();
  playout.perform({ type: 'playout.open', context: 1 }, 0);
  playout.speak(1, text, 0);
  return playout;
}

describe('speech that is text', () => {
  it('starts at once, plays at speaking rate, and ends when no more text comes', () => {
    const playout = speaking('ten chars.');
    expect(playout.takeFacts(0)).toEqual([{ type: 'started', context: 1 }]);
    expect(playout.position(130)).toEqual({ context: 1, sentMs: 130 });
    playout.finish(1);
    expect(playout.nextAt()).toBe(10 * msPerChar);
    expect(playout.takeFacts(10 * msPerChar)).toEqual([
      { type: 'drained', context: 1, sentMs: 10 * msPerChar },
    ]);
    expect(playout.isPlaying).toBe(false);
    expect(playout.nextAt()).toBeUndefined();
  });

  it('stands at a sample while it is held', () => {
    const playout = speaking('ten chars.');
    playout.perform({ type: 'playout.pause' }, 100);
    expect(playout.position(400)?.sentMs).toBe(100);
    expect(playout.nextAt()).toBeUndefined();
    playout.perform({ type: 'playout.resume' }, 500);
    expect(playout.position(550)?.sentMs).toBe(150);
  });

  it('passes marks in order, each behind the text that there was', () => {
    const playout = speaking('four');
    playout.takeFacts(0);
    playout.perform({ type: 'playout.mark', context: 1, id: 'm1' }, 0);
    playout.speak(1, 'more', 0);
    playout.perform({ type: 'playout.mark', context: 1, id: 'm2' }, 0);
    expect(playout.nextAt()).toBe(4 * msPerChar);
    expect(playout.takeFacts(4 * msPerChar)).toEqual([{ type: 'mark', id: 'm1' }]);
    expect(playout.takeFacts(8 * msPerChar)).toContainEqual({ type: 'mark', id: 'm2' });
  });

  it('never plays text before it is there', () => {
    const playout = speaking('four');
    playout.position(5_000);
    playout.speak(1, 'more', 5_000);
    expect(playout.position(5_000)?.sentMs).toBe(4 * msPerChar);
    expect(playout.position(5_000 + msPerChar)?.sentMs).toBe(5 * msPerChar);
  });

  it('knows when words have been heard, as long as they cannot grow', () => {
    const playout = speaking('one two thr');
    expect(playout.wordsAt(2)).toBe(7.5 * msPerChar);
    expect(playout.wordsAt(3)).toBeUndefined();
    playout.speak(1, 'ee four', 0);
    expect(playout.wordsAt(3)).toBe(13.5 * msPerChar);
  });

  it('plays nothing of a context that is not open', () => {
    const playout = speaking('four');
    playout.speak(2, 'something else', 0);
    playout.perform({ type: 'playout.mark', context: 2, id: 'm' }, 0);
    expect(playout.position(10_000)).toEqual({ context: 1, sentMs: 4 * msPerChar });
    playout.perform({ type: 'playout.clear' }, 10_000);
    expect(playout.position(10_000)).toBeUndefined();
    expect(playout.takeFacts(10_000)).toEqual([]);
  });
});
