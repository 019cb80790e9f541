/** The core's tools and flows, broken on purpose. */
import { always, mutantsOf, never, remove, replace, swap, type Mutant } from './mutant.ts';
import { call, condition, guard, inside, operand, statement, value } from './places.ts';

/** Mutants that the simulation of tools must notice by itself. */
export const simulatedToolMutants: readonly Mutant[] = mutantsOf({
  'tools-run.ts: run': { 'forgets which effects ran': never(condition('side_effect')) },
  'tools.ts: refuseEffect': { 'runs an id twice in a turn': remove(operand('ledger')) },
  'tools.ts: refuse': {
    'runs two calls of one id in a round': never(condition('findIndex')),
    'runs calls whose arguments were cut': remove(operand('length')),
  },
  'tools.ts: admit': { 'does not ask for the word of the caller': never(condition('confirm')) },
  'tools.ts: answered': { 'takes anything but a no for a yes': replace(operand('yes'), "verdict !== 'no'") },
  'tools.ts: mayRetry': { 'tries effects again': remove(operand('read_only')) },
  'tools-cut.ts: abandonReading': { 'gives effects up when the caller speaks': remove(operand('read_only')) },
  'tools-cut.ts: end': { 'lets tools run on after the end': remove(call('abandon')) },
  'tools-cut.ts: resumeTools': { 'repeats effects in another worker': remove(operand('read_only')) },
  'tools-cut.ts: leaveQuestion': {
    'waits for an answer when the conversation goes on': always(condition('held')),
  },
  'call.ts: take': { 'tells no tool of a hang-up': remove(call('tellTools')) },
  'context.ts: enterToolResults': {
    'loses the results of a round that was cut': remove(call('addMessages', 'pairMessages')),
  },
  'context.ts: enterHeard': { 'loses the rounds of an answer that is over': remove(call('addMessages')) },
  'context.ts: roundMessages': {
    'does not show the LLM the rounds of its own answer': remove(call('messages.push')),
  },
  'epoch.ts: nextEpoch': { 'does not tell its tools of a new turn': remove(call('tellTools')) },
  'history.ts: contextFor': {
    'lets results without their call into a small context': remove(statement('tool')),
  },
});

/** Mutants of rules that a scripted conversation holds. */
const rehearsed: readonly Mutant[] = mutantsOf({
  'tools.ts: refuseEffect': {
    'repeats an effect that succeeded': swap(condition('done'), 'done', "'failed'"),
    'repeats an effect whose outcome is unknown': remove(operand('unknown')),
  },
  'tools.ts: giveUpEffect': {
    'takes an effect that did not answer for one that failed': replace(value('state'), "'failed'"),
  },
  'tools-cut.ts: abandonReading': { 'reads on when the caller speaks': always(condition('read_only')) },
  'context.ts: enterToolResults': {
    'loses the outcome of effects that outlast an interruption': remove(call('addMessages', 'system')),
  },
  'speculation.ts: promoteSpeculation': {
    'answers early without an outcome that has come': remove(operand('waitsForSafePoint')),
    'keeps an early answer of the old node': remove(operand('flow')),
  },
  'lines.ts: speakWaiting': { 'takes a yes to a line of somebody else': remove(call('tellTools')) },
  'speaking.ts: lineText': { 'takes a yes to the idle question': never(condition('awaitsWord')) },
  'speaking.ts: cutResponse': {
    'takes an answer to a question that was hardly heard': remove(operand('asks', 'chars')),
  },
  'answering.ts: askCaller': { 'hangs up on its own question': remove(statement('hangUpAfter')) },
  'answering.ts: onRoundOver': {
    'does not say the line of a node that is entered between rounds': remove(call('sayOnEntry')),
    'forgets reasoning over a question': replace(
      inside(call('rounds.push'), value('reasoning')),
      'undefined',
    ),
  },
  'answering.ts: followTools': {
    'says a filler into its own words': remove(operand('silentAt')),
    'tells of a tool at each of its tries': always(guard(call('tell', 'tool.started'))),
  },
  'tools-run.ts: finishRound': { 'offers tools for ever': always(value('withTools')) },
  'output.ts: onNoAudio': { 'forgets what tools did when TTS makes no sound': remove(call('enterHeard')) },
  'flow.ts: stepFlow': { 'does not end a call where its flow ends': swap(operand('pending'), '===', '!==') },
  'epoch.ts: tellTools': { 'does not tell that a tool has ended': remove(call('tell')) },
  'keys.ts: onDtmf': { 'collects keys that nobody wants': never(condition('collect')) },
});

export const toolMutants: readonly Mutant[] = [...simulatedToolMutants, ...rehearsed];
