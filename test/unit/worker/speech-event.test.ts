/** Facts about the caller's voice, as the core is told them. */
import { describe, expect, it } from 'vitest';
import { speechEvent } from '../../../worker/call/speech-event.ts';
import type { SpeechFact } from '../../../worker/media/vad/speech-detector.ts';

const moment = {
  position: undefined,
  isNoEcho: false,
  isFaint: false,
  quietMs: 0,
  silenceMs: 0,
  lastedMs: 1_000,
};
const facts: readonly SpeechFact[] = [
  'speech.started',
  'speech.confirmed',
  'speech.stopped',
  'voice.paused',
  'voice.resumed',
  'voice.lasted',
];
const told = (belowCallerDb: number | undefined): (number | undefined)[] =>
  facts.map((fact) => {
    const event = speechEvent(fact, { ...moment, belowCallerDb });
    return 'belowCallerDb' in event ? event.belowCallerDb : undefined;
  });

describe('a fact about speech', () => {
  it('says in whole dB by how much the voice is softer than the caller, where that may decide something', () => {
    expect(told(14.6)).toEqual([15, 15, 15, undefined, undefined, 15]);
    expect(told(-2.2)).toEqual([-2, -2, -2, undefined, undefined, -2]);
  });

  it('says nothing of it as long as it is not known', () => {
    expect(told(undefined).every((db) => db === undefined)).toBe(true);
  });
});
