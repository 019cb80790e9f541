/**
 * The recognizer's grammar: a word bigram over the patterns of the domain, written as a finite state graph.
 *
 * Invariant: at most one empty transition lies between two words (more crash the recognizer), and every probability is in (0, 1].
 * The graph has a state per word ("this was just said"), one state where any word may follow, a start and an end. Callers
 * may leave the patterns at every word, at a price; they never have to.
 */
interface Counts {
  /** Expected count of word `to` right after word `from`; `start` and `end` are words here. */
  readonly pairs: Map<string, Map<string, number>>;
}

const startWord = '<s>';
const endWord = '</s>';
const emptyName = '';

/** Share of a word's outgoing probability that goes to "any word of the domain". */
const backoffShare = 0.002;

interface Piece {
  readonly words: readonly string[];
  readonly weight: number;
}

/** All word sequences of a pattern with their share of its weight; slots inside slots are expanded too. */
function expand(pattern: string, slots: Readonly<Record<string, readonly string[]>>): Piece[] {
  let pieces: Piece[] = [{ words: [], weight: 1 }];
  for (const token of pattern.split(' ').filter((part) => part !== emptyName)) {
    const name = /^\{(\w+)\}$/.exec(token)?.[1];
    const choices = name === undefined ? [token] : slots[name];
    if (choices === undefined) throw new Error(`the pattern uses a slot that is not declared: ${token}`);
    const tails =
      name === undefined
        ? [{ words: [token], weight: 1 }]
        : choices.flatMap((choice) =>
            expand(choice, slots).map((piece) => ({ ...piece, weight: piece.weight / choices.length })),
          );
    pieces = pieces.flatMap((piece) =>
      tails.map((tail) => ({ words: [...piece.words, ...tail.words], weight: piece.weight * tail.weight })),
    );
  }
  return pieces;
}

/** Cuts a pattern into parts that are expanded alone, so that a sentence with four slots does not give 100,000 sentences. */
function count(pattern: string, slots: Readonly<Record<string, readonly string[]>>, counts: Counts): void {
  const match = /^(\d+) (.*)$/.exec(pattern);
  const weight = match?.[1] === undefined ? 1 : Number(match[1]);
  const tokens = (match?.[2] ?? pattern).split(' ');
  let ends = new Map([[startWord, weight]]);
  for (const token of tokens) {
    const next = new Map<string, number>();
    for (const { words, weight: share } of expand(token, slots)) {
      const [first, ...rest] = words;
      if (first === undefined) continue;
      for (const [from, mass] of ends) add(counts, [from, first], mass * share);
      let from = first;
      for (const word of rest) {
        add(counts, [from, word], weight * share);
        from = word;
      }
      next.set(from, (next.get(from) ?? 0) + weight * share);
    }
    ends = next;
  }
  for (const [from, mass] of ends) add(counts, [from, endWord], mass);
}

function add({ pairs }: Counts, [from, to]: readonly [string, string], mass: number): void {
  const row = pairs.get(from) ?? new Map<string, number>();
  row.set(to, (row.get(to) ?? 0) + mass);
  pairs.set(from, row);
}

/** Every distinct word of the patterns, sorted. */
export function vocabulary(
  patterns: readonly string[],
  slots: Readonly<Record<string, readonly string[]>>,
): string[] {
  const counts: Counts = { pairs: new Map() };
  for (const pattern of patterns) count(pattern, slots, counts);
  return [...counts.pairs.keys()].filter((word) => word !== startWord).sort();
}

/** The grammar in the recognizer's own text format for finite state graphs. */
export function bigramGrammar(
  patterns: readonly string[],
  slots: Readonly<Record<string, readonly string[]>>,
): string {
  const counts: Counts = { pairs: new Map() };
  for (const pattern of patterns) count(pattern, slots, counts);
  const words = [...counts.pairs.keys()].filter((word) => word !== startWord).sort();
  const state = new Map([[startWord, 0], ...words.map((word, index): [string, number] => [word, index + 1])]);
  const anyWord = words.length + 1;
  const end = words.length + 2;
  const lines: string[] = [];
  const line = (parts: { from: number; to: number; share: number; word?: string }): void => {
    const share = Math.max(parts.share, 1e-6).toPrecision(5);
    lines.push(
      `TRANSITION ${parts.from} ${parts.to} ${share}${parts.word === undefined ? '' : ` ${parts.word}`}`,
    );
  };
  for (const [from, row] of counts.pairs) {
    const total = [...row.values()].reduce((sum, mass) => sum + mass, 0);
    const source = state.get(from) ?? 0;
    for (const [to, mass] of row) {
      const share = ((1 - backoffShare) * mass) / total;
      if (to === endWord) line({ from: source, to: end, share });
      else line({ from: source, to: state.get(to) ?? 0, share, word: to });
    }
    line({ from: source, to: anyWord, share: backoffShare });
    if (!row.has(endWord) && from !== startWord) {
      line({ from: source, to: end, share: backoffShare / 10 });
    }
  }
  for (const word of words) line({ from: anyWord, to: state.get(word) ?? 0, share: 1 / words.length, word });
  return [
    'FSG_BEGIN demo',
    `NUM_STATES ${words.length + 3}`,
    'START_STATE 0',
    `FINAL_STATE ${end}`,
    ...lines,
    'FSG_END',
    '',
  ].join('\n');
}

/**
 * Pads a text file for the recognizer. Its loader writes one byte behind the copy that it takes of a file, which
 * destroys the heap for lengths of the form 8n + 3; lengths of the form 8n are safe, with or without a final zero.
 */
export function padded(text: string): string {
  return text + '\n'.repeat((8 - (text.length % 8)) % 8);
}

/** A graph in which any phone may follow any other: what speech sounds like when the domain is ignored. */
export function phoneLoopGrammar(phones: readonly string[]): string {
  const share = (1 / phones.length).toPrecision(5);
  return [
    'FSG_BEGIN phones',
    'NUM_STATES 2',
    'START_STATE 0',
    'FINAL_STATE 1',
    ...phones.map((phone) => `TRANSITION 0 0 ${share} ${phone}`),
    'TRANSITION 0 1 0.1',
    'FSG_END',
    '',
  ].join('\n');
}
