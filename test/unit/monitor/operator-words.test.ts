/** What an operator says to a caller, as STT understands it. */
import { describe, expect, it } from 'vitest';
import type { SttEvent } from '../../../worker/stages/stage.ts';
import { OperatorWords } from '../../../worker/monitor/operator-words.ts';

function newWords() {
  const asked: string[] = [];
  const said: string[] = [];
  let sink: (event: SttEvent) => void = () => undefined;
  const words = new OperatorWords({
    open: (given) => {
      sink = given;
      return {
        audio: () => asked.push('audio') > 0,
        finalize: () => void asked.push('finalize'),
        close: () => void asked.push('close'),
      };
    },
    said: (text) => said.push(text),
  });
  const hears = (text: string, { isFinal = true, speechFinal = false } = {}): void =>
    sink({ type: 'transcript', text, isFinal, speechFinal, fromFinalize: false });
  return { words, asked, said, hears, tell: (event: SttEvent) => sink(event) };
}

const voice = new Int16Array(320).fill(4_000);
const silence = new Int16Array(320);

describe('the words of an operator', () => {
  it('are asked for once behind a pause, and told as one text', () => {
    const { words, asked, said, hears, tell } = newWords();
    words.audio(voice);
    for (let frame = 0; frame < 100; frame += 1) words.audio(silence);
    expect(asked.filter((what) => what === 'finalize')).toHaveLength(1);
    hears('Hello', { isFinal: false });
    hears('Hello, I am');
    hears(' Maria.');
    expect(said).toEqual([]);
    tell({ type: 'finalized' });
    tell({ type: 'finalized' });
    expect(said).toEqual(['Hello, I am Maria.']);
  });

  it('are told where STT finds their end by itself, and as far as they are known when the operator leaves', () => {
    const { words, asked, said, hears } = newWords();
    hears('One.', { speechFinal: true });
    hears('Two.');
    words.close();
    words.close();
    words.audio(voice);
    expect(said).toEqual(['One.', 'Two.']);
    expect(asked).toEqual(['close']);
  });

  it('are kept as STT likes them best where the operator leaves in the middle', () => {
    const { words, said, hears } = newWords();
    hears('Your order', { isFinal: false });
    hears('Your order comes.');
    hears('Tomor', { isFinal: false });
    hears('Tomorrow', { isFinal: false });
    words.close();
    expect(said).toEqual(['Your order comes. Tomorrow']);
  });

  it('are unknown where STT fails, then or from the start, and nobody notices', () => {
    const { words, said, hears, tell } = newWords();
    hears('One.');
    tell({ type: 'error', error: { kind: 'disconnected' } });
    words.audio(voice);
    expect([said, words.isLost]).toEqual([['One.'], true]);
    const open = (): never => {
      throw new Error('none');
    };
    const none = new OperatorWords({ open, said: (text) => said.push(text) });
    none.audio(voice);
    none.close();
    expect([said, none.isLost]).toEqual([['One.'], true]);
  });
});
