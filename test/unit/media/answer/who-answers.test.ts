/**
 * Who has answered, with the real model, over a line at 8 kHz in mu-law: persons and machines out of recordings and of the demo's
 * synthesizer, without and with a background. `SVC_PRINT_ANSWERS=1` prints the table of docs/measurements/answering-machines.md.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../../../examples/demo/flite.ts';
import type { Voice } from '../../../../examples/demo/voices.ts';
import { sileroPath } from '../../../../inference/models.ts';
import { Silero } from '../../../../inference/silero/silero.ts';
import { VadThread } from '../../../../inference/vad-thread.ts';
import type { AnswerEvent } from '../../../../worker/media/answer/answer.ts';
import { AnswerEar } from '../../../../worker/media/answer/ear.ts';
import { beep, joined, line, silence, voice } from '../../../support/audio/answers.ts';
import { newMailboxes } from '../../../support/audio/mailboxes.ts';
import { noRecordings, recordings } from '../../../support/audio/recordings.ts';

let model: Silero;
let flite: Flite;
const allVoices: readonly Voice[] = ['slt', 'awb', 'kal16', 'rms'];

beforeAll(async () => {
  model = Silero.open(sileroPath(undefined));
  flite = await loadFlite();
});

interface Told {
  readonly fact: AnswerEvent;
  readonly atMs: number;
}

/** Everything that is told of who answers, and when. */
function listen(bytes: Uint8Array): Told[] {
  const boxes = newMailboxes({ workers: 1, slotsPerWorker: 1, ringFrames: 16, threads: 1 });
  boxes.setSlotsInUse(0, 1);
  const thread = new VadThread({ thread: 0, boxes, model, wake: () => undefined });
  const told: Told[] = [];
  let atMs = 0;
  const ear = new AnswerEar({
    ...{ boxes, slot: 0, machineMs: () => boxes.threadHeartbeat(0), sampleRate: 8_000, encoding: 'mulaw' },
    ...{ threshold: 0.5, isMachine: false },
    told: (fact) => told.push({ fact, atMs }),
  });
  for (let at = 0; at + 160 <= bytes.length; at += 160) {
    atMs += 20;
    ear.audio(bytes.subarray(at, at + 160), atMs);
    while (thread.judgeWaiting() > 0);
    ear.collect();
  }
  return told;
}

interface Case {
  readonly name: string;
  readonly pcm: Int16Array;
  /** When their words, or the beep, are over. */
  readonly endMs: number;
}

const leadMs = 600;
const hellos = [
  ...[
    'Hello?',
    'Hi.',
    'Yes?',
    'Hello, this is Anna.',
    'Hello, hello?',
    'Who is there?',
    'Good morning, Miller.',
  ],
];
const greetings = [
  'Hello, you have reached the voice mail of Anna Miller. Please leave a message after the tone.',
  'Hi, this is Tom. I cannot come to the phone right now. Leave your name and number, and I will call you back.',
  'The person you are calling is not available. At the tone, please record your message.',
];

function person(name: string, said: Int16Array): Case {
  const words = voice(said);
  return { name, pcm: joined([silence(leadMs), words, silence(2_500)]), endMs: leadMs + words.length / 16 };
}

function machine(name: string, said: readonly Int16Array[], { hz, ms }: { hz: number; ms: number }): Case {
  const parts = said.flatMap((one, i) => (i === 0 ? [voice(one)] : [silence(400), voice(one)]));
  const words = joined(parts);
  const pcm = joined([silence(leadMs), words, silence(900), beep(hz, ms), silence(1_500)]);
  return { name, pcm, endMs: leadMs + words.length / 16 + 900 + ms };
}

const beeps = [
  ...[400, 440, 850, 1_000, 1_400, 2_000, 2_600].map((hz, i) => ({
    hz,
    ms: [150, 250, 400, 1_000][i % 4] ?? 0,
  })),
];

function cases(voices: readonly Voice[] = allVoices): {
  readonly persons: Case[];
  readonly machines: Case[];
} {
  const synthesized = (text: string, of: Voice): Int16Array => flite(text, { voice: of, speed: 1 });
  const speech = recordings('speech');
  const isShort = /^(digit_|cards_001|dograh_yes|dograh_nope|lk_hello)/;
  const isLong = /^(austen_0870|austen_0890|austen_0920|libri|arctic|sb_|vosk_digits|jfk|two_cities|coqui)/;
  return {
    persons: [
      ...hellos.flatMap((text) => voices.map((of) => person(`${of}: ${text}`, synthesized(text, of)))),
      ...speech.filter(({ name }) => isShort.test(name)).map(({ name, pcm }) => person(name, pcm)),
    ],
    machines: [
      ...greetings.flatMap((text, i) =>
        voices.map((of, j) => machine(`${of}: ${text}`, [synthesized(text, of)], beeps[(i * 4 + j) % 7]!)),
      ),
      ...speech
        .filter(({ name }) => isLong.test(name))
        .map(({ name, pcm }, i) => machine(name, [pcm.subarray(0, 160_000)], beeps[i % 7]!)),
    ],
  };
}

/** How long each thing took that was told rightly; what was told where not all of it was. */
interface Outcome {
  readonly one: Case;
  readonly ms: readonly number[];
  readonly told?: string;
}

/** How long after the words of a person it was told what they are; or what was told instead. */
function judgePerson(one: Case, bytes: Uint8Array): Outcome {
  const told = listen(bytes);
  const isRight = told.length === 1 && told[0]?.fact === 'human';
  return isRight ? { one, ms: [told[0]!.atMs - one.endMs] } : { one, ms: [], told: JSON.stringify(told) };
}

/** How long after the first word of a machine it was told, and how long after its beep that it listens. */
function judgeMachine(one: Case, bytes: Uint8Array): Outcome {
  const told = listen(bytes);
  const [verdict, sign] = told;
  const isHeard = sign?.fact === 'beep' && sign.atMs > one.endMs;
  if (verdict?.fact !== 'machine') return { one, ms: [], told: JSON.stringify(told) };
  const verdictMs = verdict.atMs - leadMs;
  return isHeard
    ? { one, ms: [verdictMs, sign.atMs - one.endMs] }
    : { one, ms: [verdictMs], told: JSON.stringify(told) };
}

function judgeAll(
  of: readonly Case[],
  judge: typeof judgePerson,
  onLine: (pcm: Int16Array) => Uint8Array,
): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const one of of) outcomes.push(judge(one, onLine(one.pcm)));
  return outcomes;
}

const wrong = (outcomes: readonly Outcome[]): string[] =>
  outcomes.flatMap(({ one, told }) => (told === undefined ? [] : [`${one.name}: ${told}`]));

const share = (values: readonly number[], part: number): number =>
  Math.round(values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? NaN);

function row(outcomes: readonly Outcome[], which: number): string {
  const right = outcomes.flatMap(({ ms }) => ms.slice(which, which + 1));
  return `${right.length} of ${outcomes.length}, ${share(right, 0.5)} / ${share(right, 0.95)} ms`;
}

describe('who answers', () => {
  it('is told of synthesized persons within a second, of machines, and of their beeps', () => {
    const { persons, machines } = cases(['slt']);
    const few = (all: readonly Case[]): Case[] => all.filter(({ name }) => name.startsWith('slt'));
    const heardPersons = judgeAll(few(persons), judgePerson, (pcm) => line(pcm));
    const heardMachines = judgeAll(few(machines), judgeMachine, (pcm) => line(pcm));
    expect([...wrong(heardPersons), ...wrong(heardMachines)]).toEqual([]);
    for (const { ms } of heardPersons) expect(ms[0]).toBeLessThanOrEqual(1_000);
  });

  it.runIf(process.env['SVC_PRINT_ANSWERS'] === '1' && noRecordings === undefined)(
    'as a table',
    () => {
      const coffee = recordings('noise').find(({ name }) => name.startsWith('coffee'))?.pcm ?? silence(1_000);
      const noisy = (noiseDb: number) => (pcm: Int16Array) => line(pcm, { noise: coffee, noiseDb });
      const lines: readonly (readonly [string, (pcm: Int16Array) => Uint8Array])[] = [
        ['quiet', (pcm) => line(pcm)],
        ['hiss 40 dB below the voice', (pcm) => line(pcm, { noiseDb: 40 })],
        ['a coffee shop 20 dB below', noisy(20)],
        ['a coffee shop 10 dB below', noisy(10)],
      ];
      const { persons, machines } = cases();
      for (const [name, onLine] of lines) {
        const heardPersons = judgeAll(persons, judgePerson, onLine);
        const heardMachines = judgeAll(machines, judgeMachine, onLine);
        process.stdout.write(
          `| ${[name, row(heardPersons, 0), row(heardMachines, 0), row(heardMachines, 1)].join(' | ')} |\n`,
        );
        for (const text of [...wrong(heardPersons), ...wrong(heardMachines)])
          process.stdout.write(`  wrong: ${text}\n`);
      }
    },
    120_000,
  );
});
