/**
 * Looks for a place in what two voices say, before any call needs it: while its code is interpreted, the first look takes many
 * times as long, and other calls wait for it.
 *
 * Invariant: nothing of a rehearsal is left but compiled code. For the start of a worker, which it takes a few tens of
 * milliseconds.
 */
import { Joining } from './joining.ts';
import { KeptSpeech } from './kept-speech.ts';
import { speechIn } from './sounds-like-speech.ts';

const sampleRate = 8_000;
const saidMs = 300;
const againMs = 650;
const times = 3;

export function rehearseJoining(): void {
  for (let time = 1; time <= times; time += 1) {
    const said = new KeptSpeech(sampleRate);
    said.push(noise(saidMs, time));
    speechIn(said, { isWhole: false });
    const joining = new Joining({
      context: 0,
      sampleRate,
      said,
      begin: { chars: 0, fromMs: 0, toMs: 0, likelyMs: 0 },
      guess: () => ({ chars: 1, ms: saidMs }),
    });
    joining.add({ type: 'audio', context: 0, pcm: noise(againMs, time + times) });
    let look = joining.look(saidMs);
    while (look === 'working') look = joining.look(saidMs);
  }
}

/** The same for the same seed; loud, and in every band. */
function noise(ms: number, seed: number): Int16Array {
  const pcm = new Int16Array((ms * sampleRate) / 1_000);
  let state = seed;
  for (let at = 0; at < pcm.length; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    pcm[at] = state >> 18;
  }
  return pcm;
}
