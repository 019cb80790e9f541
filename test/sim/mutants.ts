/**
 * The core, broken on purpose: each mutant is one exact piece of its source replaced by another. The simulation or a scripted
 * conversation must notice every one of them. A pattern that is gone from the source is an error: its mutant would test nothing.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Core } from '../support/core.ts';

export interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const mutant = (name: string, file: string, change: { from: string; to: string }): Mutant => ({
  name,
  file,
  ...change,
});

export const mutants: readonly Mutant[] = [
  mutant('keeps text that nobody heard', 'speaking.ts', {
    from: 'addHeard(state.history, response.text.slice(0, chars));\n  }\n  actions.push(',
    to: 'addHeard(state.history, response.text);\n  }\n  actions.push(',
  }),
  mutant('forgets text that was heard', 'speaking.ts', {
    from: 'addHeard(state.history, response.text.slice(0, chars));\n  }\n  actions.push(',
    to: 'void chars;\n  }\n  actions.push(',
  }),
  mutant('forgets answers that were played to their end', 'speaking.ts', {
    from: "if (response.phase !== 'waiting') addHeard(state.history, response.text);",
    to: '',
  }),
  mutant('remembers an answer that never became audible', 'speaking.ts', {
    from: "const onTheWire = response.phase !== 'waiting';",
    to: "const onTheWire = response.phase !== 'waiting' || response.text !== '';",
  }),
  mutant('takes text of an older epoch', 'call.ts', {
    from: 'response.epoch !== event.epoch || !response.writing',
    to: '!response.writing',
  }),
  mutant('takes text of a round that is over', 'call.ts', {
    from: 'response.epoch !== event.epoch || !response.writing',
    to: 'response.epoch !== event.epoch',
  }),
  mutant('takes facts about audio of an older context', 'call.ts', {
    from: 'if (response === undefined || response.context !== event.context) return;',
    to: 'if (response === undefined) return;',
  }),
  mutant('does not clear when the caller cuts in', 'speaking.ts', {
    from: "actions.push({ type: 'playout.clear', epoch: state.epoch, wire: onTheWire });",
    to: '',
  }),
  mutant('clears without moving the epoch', 'speaking.ts', {
    from: 'state.epoch += 1;\n  if (response === undefined) return;',
    to: 'if (response === undefined) return;',
  }),
  mutant('lets the LLM write on after a cut', 'speaking.ts', {
    from: "if (response.writing) actions.push({ type: 'llm.cancel' });",
    to: '',
  }),
  mutant('lets TTS speak on after a cut', 'speaking.ts', {
    from: "if (response.writing) actions.push({ type: 'llm.cancel' });\n  actions.push({ type: 'tts.cancel', context: response.context });",
    to: "if (response.writing) actions.push({ type: 'llm.cancel' });",
  }),
  mutant('cuts at the first sound', 'listening.ts', {
    from: 'else if (interruptible(step)) beginCandidate(step);',
    to: "else if (interruptible(step)) { beginCandidate(step); step.state.turn = { phase: 'speaking', words: newWords(), startedAt: step.now, interrupted: true }; cutResponse(step, undefined); }",
  }),
  mutant('does not hold the output for a candidate', 'listening.ts', {
    from: "step.actions.push({ type: 'playout.pause' }, { type: 'stt.listen' });",
    to: "step.actions.push({ type: 'stt.listen' });",
  }),
  mutant('never resumes after a candidate that died', 'listening.ts', {
    from: "step.actions.push({ type: 'playout.resume' });",
    to: '',
  }),
  mutant('answers what was said into a candidate that died', 'listening.ts', {
    from: "finalize(step, 'discard');\n    state.turn = { phase: 'idle' };\n    if (state.response?.phase",
    to: "finalize(step, 'keep');\n    state.turn = { phase: 'idle' };\n    if (state.response?.phase",
  }),
  mutant('waits for the marks of a response that was cut', 'heard.ts', {
    from: 'marks: new Map(),\n  echoedChars: 0,',
    to: 'marks: (newHeardState as unknown as { kept: Map<string, PendingMark> }).kept ??= new Map(),\n  echoedChars: 0,',
  }),
  mutant('does not wait for marks at all', 'speaking.ts', {
    from: 'if (response.heard.marks.size === 0 && response.heard.echoedChars >= response.text.length)\n    completeResponse(step);',
    to: 'completeResponse(step);',
  }),
  mutant('starts a second response beside the first', 'listening.ts', {
    from: 'if (state.response === undefined && nobodySpeaks(state)) startOwedAnswer(step);',
    to: 'if (nobodySpeaks(state)) startOwedAnswer(step);',
  }),
  mutant('lets a noise that flickers hold a turn open', 'listening.ts', {
    from: 'Math.min(step.now + minSpeechMs + resumeMarginMs, turn.lastVoiceAt + maxSilenceMs)',
    to: 'step.now + minSpeechMs + resumeMarginMs + 0 * maxSilenceMs',
  }),
  mutant('forgets the deadline of a turn', 'call.ts', {
    from: "if (turn.phase === 'pausing') return turn.decideAt;",
    to: '',
  }),
  mutant('forgets the deadline of STT', 'call.ts', {
    from: "return turn.phase === 'finalizing' ? turn.giveUpAt : undefined;",
    to: 'return undefined;',
  }),
  mutant('forgets the deadline of a response', 'call.ts', {
    from: "if (response?.phase === 'waiting') return state.turn.phase === 'idle' ? response.stallAt : undefined;",
    to: '',
  }),
  mutant('forgets the deadline of the last mark', 'call.ts', {
    from: "return response?.phase === 'draining' ? response.endsBy : undefined;",
    to: 'return undefined;',
  }),
  mutant('forgets the deadline of keys', 'call.ts', {
    from: 'earliest = earlier(earliest, state.dtmf.completeAt);',
    to: '',
  }),
  mutant('forgets the deadline of the call', 'call.ts', {
    from: 'return earlier(earliest, state.endingSoon ? state.callEndsAt + overtimeMs : state.callEndsAt);',
    to: 'return earliest;',
  }),
  mutant('keeps half a word', 'heard.ts', {
    from: 'return wordStart === -1 ? chars : wordStart;',
    to: 'return wordStart === -1 ? chars : Math.max(wordStart, chars);',
  }),
  mutant('ignores what the client echoed', 'heard.ts', {
    from: 'return wholeWords(text, Math.max(chars, heard.echoedChars));',
    to: 'return wholeWords(text, Math.max(0, chars - 12));',
  }),
  mutant('ignores the delay of the client', 'heard.ts', {
    from: '(position?.sentMs ?? 0) - behindMs);',
    to: 'position?.sentMs ?? 0);',
  }),
  mutant('ignores a hang-up', 'call.ts', {
    from: "case 'call.closed':\n      step.state.phase = 'ended';\n      return;",
    to: "case 'call.closed':\n      return;",
  }),
  mutant('ignores a shutdown', 'call.ts', {
    from: "endCall(step, 'shutdown');",
    to: 'step.state.endingSoon = true;',
  }),
  mutant('never asks a silent caller', 'call.ts', {
    from: 'if (askAfterMs > 0) state.idle.askAt ??= now + askAfterMs;',
    to: '',
  }),
  mutant('asks for ever', 'call.ts', {
    from: "state.idle.asks > state.settings.idle.endAfter ? 'farewell' : 'question'",
    to: "'question'",
  }),
  mutant('does not apologise', 'speaking.ts', {
    from: 'writeText(response, step.state.settings.apology, out);\n  if (!finishWriting(response, out)) completeResponse(step);',
    to: 'completeResponse(step);',
  }),
  mutant('lets the caller interrupt the farewell', 'listening.ts', {
    from: 'step.state.settings.interrupt.enabled && step.state.response?.hangUpAfter !== true;',
    to: 'step.state.settings.interrupt.enabled;',
  }),
  mutant('does not hang up after the farewell', 'speaking.ts', {
    from: "if (response.hangUpAfter) endCall(step, 'ended');",
    to: 'if (response.hangUpAfter) return;',
  }),
  mutant('repeats what TTS had already spoken', 'speaking.ts', {
    from: 'speakAgain(step, response, response.text.slice(chars) + response.splitter.pending);',
    to: 'speakAgain(step, response, response.text + response.splitter.pending);',
  }),
  mutant('keeps a dead STT session', 'listening.ts', {
    from: "step.actions.push({ type: 'stt.reopen' });\n  state.stt.owed.length = 0;",
    to: 'state.stt.owed.length = 0;',
  }),
  mutant('loses the speech that outlasts a response', 'call.ts', {
    from: 'if (hadResponse && state.response === undefined) adoptSpeech(step);',
    to: 'void hadResponse; void adoptSpeech;',
  }),
  mutant('drops what was said before the caller went on', 'listening.ts', {
    from: "step.actions.push({ type: 'stt.listen' });\n      state.turn = {\n        phase: 'speaking',\n        words: turn.words,",
    to: "step.actions.push({ type: 'stt.listen' });\n      state.turn = {\n        phase: 'speaking',\n        words: newWords(),",
  }),
  mutant('forgets that the client plays on while the output is held', 'heard.ts', {
    from: 'client.delayMs - (now - (heard.stoppedAt ?? now))',
    to: 'client.delayMs',
  }),
  mutant('glues the first words of a stalled LLM to the apology', 'speaking.ts', {
    from: "    response.splitter.pending = '';\n",
    to: '',
  }),
  mutant('answers keys into the words of the caller', 'speaking.ts', {
    from: "state.turn.phase === 'idle' && state.voice === 'silent';",
    to: "state.turn.phase === 'idle' || state.voice === 'speech';",
  }),
  mutant('plays a repeated answer into a candidate', 'speaking.ts', {
    from: "if (state.turn.phase === 'candidate' || state.turn.phase === 'fading')",
    to: 'if (state.lastContext < 0)',
  }),
  mutant('keeps a session of STT that never answered', 'listening.ts', {
    from: "step.actions.push({ type: 'stt.reopen' });\n    state.stt.owed.length = 0;",
    to: "state.stt.owed.fill('discard');",
  }),
  mutant('takes the end of all audio for the end of an early piece', 'heard.ts', {
    from: 'if (piece.endSaid <= said) newest = piece;',
    to: 'if (piece.endSaid <= said && piece.endMs === undefined) newest = piece;',
  }),
];

const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = `${root}worker/core/`;

/** The source of a file of the core with the mutant in it. Throws when its pattern is not there exactly once. */
function mutated({ name, file, from, to }: Mutant): string {
  const source = readFileSync(`${folder}${file}`, 'utf8');
  const times = source.split(from).length - 1;
  if (times !== 1) throw new Error(`the pattern of "${name}" occurs ${times} times in ${file}`);
  return source.replace(from, () => to);
}

/** The core with the mutant in it, or the core as it is. */
export async function coreWith(change: Mutant | undefined): Promise<Core> {
  const contents = change === undefined ? undefined : mutated(change);
  const result = await build({
    stdin: {
      contents: `export { step, nextDeadline } from './call.ts'; export { newCall } from './state.ts';`,
      resolveDir: folder,
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    plugins: [
      {
        name: 'mutant',
        setup: (hooks) =>
          hooks.onLoad({ filter: /worker[\\/]core[\\/][^\\/]+$/ }, ({ path }) =>
            contents !== undefined && path.endsWith(change?.file ?? '')
              ? { contents, loader: 'ts' }
              : undefined,
          ),
      },
    ],
  });
  const code = Buffer.from(result.outputFiles[0]!.contents).toString('base64');
  return (await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`)) as Core;
}
