/**
 * What `[realtime]` asks of the rest of the agent file (docs/realtime.md): what cannot hold beside it is refused, what would have no effect is
 * warned of, and what is missing is told with what it is missing for.
 */
import type { KeyPath, ProblemList } from '../problem.ts';
import { isTable } from '../table.ts';
import type { RealtimeDefinition } from './definition.ts';

type Tree = Readonly<Record<string, unknown>>;

const tableAt = (tree: Tree, key: string): Tree => (isTable(tree[key]) ? tree[key] : {});
const rowsOf = (value: unknown): readonly Tree[] => (Array.isArray(value) ? value.filter(isTable) : []);

/** Checks the file around the model. `realtime` is undefined where its own table is wrong. */
export function checkRealtimeFits(
  tree: Tree,
  realtime: Pick<RealtimeDefinition, 'output' | 'words' | 'writesOver'> | undefined,
  problems: ProblemList,
): void {
  if (realtime === undefined) return;
  if (realtime.words === 'vendor') checkLateWords(tree, realtime, problems);
  if (realtime.output === 'audio') checkOwnVoice(tree, problems);
  if (tree['tts'] === undefined) checkWithoutTts(tree, realtime, problems);
  if (tree['llm'] === undefined) checkWithoutLlm(tree, problems);
  if (tree['stt'] === undefined)
    problems.note(
      ['realtime'],
      'is heard by itself alone: without [stt] nobody hears the caller where the model fails, or hears an operator',
    );
  checkTelephone(tree, problems);
  const turn = tableAt(tree, 'turn');
  if (turn['speculate'] === true)
    problems.warning(['turn', 'speculate'], 'has no effect with [realtime]: the model is given whole turns');
}

/** The voice of a call has one rate, which is that of `[tts]`. */
function checkTelephone(tree: Tree, problems: ProblemList): void {
  const { audio_format: format } = tableAt(tableAt(tree, 'realtime'), 'openai_realtime');
  if ((format === 'pcmu' || format === 'pcma') && tableAt(tree, 'tts')['sample_rate'] !== 8_000)
    problems.warning(
      ['realtime', 'openai_realtime', 'audio_format'],
      'saves little unless tts.sample_rate is 8000: answers are brought to that rate, and back to the telephone',
    );
}

/** Words that come behind an answer decide nothing before it. */
function checkLateWords(
  tree: Tree,
  { writesOver }: Pick<RealtimeDefinition, 'writesOver'>,
  problems: ProblemList,
): void {
  const rule =
    'needs words that come before the answer: with [stt] set realtime.words = "own", because a yes is read in them';
  rowsOf(tree['tools']).forEach((tool, index) => {
    if (tool['confirm'] === true) problems.error(['tools', index, 'confirm'], rule);
  });
  rowsOf(tree['mcp']).forEach((server, index) => {
    const { confirm } = server;
    if (Array.isArray(confirm) && confirm.length > 0) problems.error(['mcp', index, 'confirm'], rule);
  });
  if (tree['stt'] !== undefined || writesOver === true) return;
  const turn = tableAt(tree, 'turn');
  const interrupt = tableAt(turn, 'interrupt');
  const isGiven = (key: string): boolean => interrupt[key] !== undefined && interrupt[key] !== 0;
  for (const key of ['min_words', 'backchannels', 'wordless_ms'].filter(isGiven))
    problems.warning(
      ['turn', 'interrupt', key],
      'has no effect with realtime.words = "vendor" and without [stt]: words come too late to judge an interruption',
    );
}

function checkOwnVoice(tree: Tree, problems: ProblemList): void {
  const { pronounce } = tableAt(tree, 'agent');
  if (isTable(pronounce) && Object.keys(pronounce).length > 0)
    problems.warning(
      ['agent', 'pronounce'],
      'has no effect with [realtime]: the model speaks by itself; realtime.output = "text" lets [tts] speak',
    );
}

function checkWithoutTts(
  tree: Tree,
  { output }: Pick<RealtimeDefinition, 'output'>,
  problems: ProblemList,
): void {
  if (output === 'text') problems.error(['realtime', 'output'], 'needs the section [tts] when it is "text"');
  const exact: readonly [KeyPath, unknown][] = [
    [['recording', 'consent'], tableAt(tree, 'recording')['consent']],
    [['monitor', 'notice'], tableAt(tree, 'monitor')['notice']],
  ];
  for (const [path, text] of exact)
    if (typeof text === 'string' && text.trim() !== '')
      problems.error(path, 'needs the section [tts]: the model may say it in other words');
  problems.note(
    ['realtime'],
    'reads the scripted lines too: without [tts] they may differ by a word, and none is heard where the model fails',
  );
}

function checkWithoutLlm(tree: Tree, problems: ProblemList): void {
  problems.note(['realtime'], 'answers alone: without [llm] a call ends where the model fails');
  const { analysis } = tableAt(tree, 'after_call');
  if (isTable(analysis) && analysis['llm'] === undefined)
    problems.missing(['after_call', 'analysis', 'llm'], 'is required where the file has no [llm]');
}
