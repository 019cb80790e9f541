/**
 * Learns what whole sentences end in: reads a folder of texts, one utterance a line, and writes the weights that
 * `worker/core/turn/completeness.ts` reads. A tenth of the lines is kept aside, and what is told of them is printed.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newPrng, type Prng } from '../../../shared/base/prng.ts';
import { featuresOf, hashOf } from '../../../worker/core/turn/completeness.ts';
import { spokenWords } from '../../../shared/languages/spelling.ts';
import { pausesWithin } from './pauses.ts';

/** Features that are kept beside the words, and how often one must have been seen. */
const keptFeatures = 32_000;
const seenAtLeast = 3;
/** A word that was seen so often is known, whatever it tells. */
const knownFrom = 8;
const rounds = 8;
const rate = 0.15;
/** What callers say to agents is short and said often: it is shown so many times. */
const spokenFile = 'callers.txt';
const spokenTimes = 8;
/** Beginnings of a sentence that are shown beside its end. */
const beginnings = 4;
/** A weight of one stands for so much; weights are bytes. */
const step = 1 / 24;

interface Example {
  readonly corpus: string;
  readonly features: Uint32Array;
  readonly isWhole: boolean;
}

/** Sentences of a line: where it has several, each of them is whole. */
const sentencesOf = (line: string): string[][] =>
  line
    .split(/[.?!;]+(?:\s|$)/)
    .map(spokenWords)
    .filter(({ length }) => length > 0);

const hashed = (words: readonly string[]): Uint32Array => Uint32Array.from(featuresOf(words), hashOf);

/** A sentence is whole, and its beginnings are not; so is what it ends in, which is how questions are answered. */
function* examplesOf(corpus: string, line: string, prng: Prng): Generator<Example> {
  for (const words of sentencesOf(line)) {
    const parts = [{ from: 0, count: beginnings }];
    if (words.length > 2) parts.push({ from: 1 + prng.below(words.length - 1), count: 1 });
    for (const { from, count } of parts) {
      const part = words.slice(from);
      yield { corpus, features: hashed(part), isWhole: true };
      const ends = new Set(
        Array.from({ length: part.length > 1 ? count : 0 }, () => 1 + prng.below(part.length - 1)),
      );
      for (const end of ends) yield { corpus, features: hashed(part.slice(0, end)), isWhole: false };
    }
  }
}

class Model {
  readonly #weights = new Map<number, { weight: number; slope: number }>();
  readonly #bias = { weight: 0, slope: 1e-6 };

  constructor(features: Iterable<number>) {
    for (const feature of features) this.#weights.set(feature, { weight: 0, slope: 1e-6 });
  }

  /** Steps against the error, shorter the more often a feature has been corrected (AdaGrad). */
  learn({ features, isWhole }: Example): void {
    const error = this.probability(features) - (isWhole ? 1 : 0);
    const known = [this.#bias, ...[...features].flatMap((feature) => this.#weights.get(feature) ?? [])];
    for (const one of known) {
      one.slope += error * error;
      one.weight -= (rate * error) / Math.sqrt(one.slope);
    }
  }

  probability(features: Uint32Array): number {
    let sum = this.#bias.weight;
    for (const feature of features) sum += this.#weights.get(feature)?.weight ?? 0;
    return 1 / (1 + Math.exp(-sum));
  }

  get bias(): number {
    return this.#bias.weight;
  }

  /** Those that told most, over all that was seen. */
  strongest(seen: ReadonlyMap<number, number>): number[] {
    const strength = (feature: number): number =>
      Math.abs(this.#weights.get(feature)?.weight ?? 0) * Math.sqrt(seen.get(feature) ?? 0);
    return [...this.#weights.keys()].sort((a, b) => strength(b) - strength(a)).slice(0, keptFeatures);
  }

  /** As `decodeWeights` reads them. */
  encoded(): string {
    const bytes: number[] = [];
    let before = 0;
    for (const [hash, { weight }] of [...this.#weights].sort(([a], [b]) => a - b)) {
      let distance = hash - before;
      for (; distance > 127; distance = Math.floor(distance / 128)) bytes.push((distance % 128) | 128);
      bytes.push(distance, Math.max(-127, Math.min(127, Math.round(weight / step))) & 255);
      before = hash;
    }
    return Buffer.from(bytes).toString('base64');
  }
}

/** Of a whole and a begun one drawn by chance, how often the whole one has the higher probability. */
function ranked(model: Model, examples: readonly Example[]): number {
  const sorted = examples
    .map(({ features, isWhole }) => ({ probability: model.probability(features), isWhole }))
    .sort((a, b) => a.probability - b.probability);
  let [begun, right] = [0, 0];
  for (const { isWhole } of sorted) {
    if (isWhole) right += begun;
    else begun += 1;
  }
  return right / Math.max(1, begun * (sorted.length - begun));
}

function learnt(features: Iterable<number>, examples: readonly Example[], prng: Prng): Model {
  const model = new Model(features);
  const order = [...examples];
  for (let round = 0; round < rounds; round += 1) {
    for (let at = order.length - 1; at > 0; at -= 1) {
      const other = prng.below(at + 1);
      [order[at], order[other]] = [order[other] as Example, order[at] as Example];
    }
    for (const example of order) model.learn(example);
  }
  return model;
}

/** Every tenth line is kept aside. */
const asideEvery = 10;

/** Prints what the weights that are in the source make of what was kept aside. */
export function show(folder: string): void {
  for (const file of readdirSync(folder).sort()) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    const sentences = lines.filter((_, at) => at % asideEvery === 0).flatMap(sentencesOf);
    process.stdout.write(
      `${file.padEnd(24)} ${pausesWithin(sentences.filter(({ length }) => length > 1))}\n`,
    );
  }
}

/** Learns from a folder; `own` is this one, and `target` the file that is written. */
export function learn(folder: string, own: string, target: string): void {
  const prng = newPrng(7);
  const [shown, aside]: [Example[], Example[]] = [[], []];
  for (const file of readdirSync(folder).sort()) {
    const lines = readFileSync(join(folder, file), 'utf8').split('\n');
    for (const [at, line] of lines.entries())
      (at % asideEvery === 0 ? aside : shown).push(...examplesOf(file.replace('.txt', ''), line, prng));
  }
  for (const line of readFileSync(join(own, spokenFile), 'utf8').split('\n'))
    for (let time = 0; time < spokenTimes; time += 1) shown.push(...examplesOf(spokenFile, line, prng));
  const seen = new Map<number, number>();
  for (const { features } of shown) for (const one of features) seen.set(one, (seen.get(one) ?? 0) + 1);
  const often = [...seen].filter(([, count]) => count >= seenAtLeast).map(([feature]) => feature);
  const words = shown.flatMap(({ features: [word = 0] }) => ((seen.get(word) ?? 0) >= knownFrom ? word : []));
  const all = learnt(often, shown, prng);
  const model = learnt(new Set([...all.strongest(seen), ...words]), shown, prng);
  for (const corpus of new Set(aside.map((one) => one.corpus))) {
    const of = aside.filter((one) => one.corpus === corpus);
    process.stdout.write(
      `${corpus.padEnd(20)} ${String(of.length).padStart(6)} ${ranked(model, of).toFixed(3)} (${ranked(all, of).toFixed(3)} with all ${String(often.length)})\n`,
    );
  }
  const encoded = model.encoded();
  writeFileSync(
    target,
    `/** Made by \`npm run completeness\`: see completeness.ts. */
export const bias = ${model.bias.toFixed(4)};
export const weightStep = ${String(step)};
export const encodedWeights =
  '${encoded}';
`,
  );
  process.stdout.write(`${String(encoded.length)} characters written\n`);
}
