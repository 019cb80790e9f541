/** The core's tools and flows, broken on purpose. */
import { mutant, type Mutant } from './mutant.ts';

/** Mutants that the simulation of tools must notice by itself. */
export const simulatedToolMutants: readonly Mutant[] = [
  mutant('forgets which effects ran', 'tools-run.ts', {
    from: "if (record.kind === 'side_effect') {\n    const",
    to: 'if (record.key < 0) {\n    const',
  }),
  mutant('runs an id twice in a turn', 'tools.ts', {
    from: 'if (held || state.ledger.some(({ id }) => id === call.id))',
    to: 'if (held)',
  }),
  mutant('runs two calls of one id in a round', 'tools.ts', {
    from: 'if (event.calls.findIndex(({ id }) => id === call.id) < index)',
    to: 'if (index < 0)',
  }),
  mutant('does not ask for the word of the caller', 'tools.ts', {
    from: 'else if (rule.confirm) record.phase',
    to: 'else if (record.key < 0) record.phase',
  }),
  mutant('takes anything but a no for a yes', 'tools.ts', {
    from: "if (verdict === 'yes' && rule",
    to: "if (verdict !== 'no' && rule",
  }),
  mutant('gives effects up when the caller speaks', 'tools-cut.ts', {
    from: "if (record.kind !== 'read_only' || !isUnderWay(record)) continue;",
    to: 'if (!isUnderWay(record)) continue;',
  }),
  mutant('lets tools run on after the end', 'tools-cut.ts', {
    from: "abandon(site, record, 'abandoned');",
    to: '',
  }),
  mutant('tells no tool of a hang-up', 'call.ts', {
    from: "tellTools(step, { type: 'call.ended' });",
    to: '',
  }),
  mutant('repeats effects in another worker', 'tools-cut.ts', {
    from: "if (record.kind === 'read_only' && rule !== undefined) {\n      record.phase",
    to: 'if (rule !== undefined) {\n      record.phase',
  }),
  mutant('loses the results of a round that was cut', 'context.ts', {
    from: 'addMessages(history, pairMessages(pairs));',
    to: 'void pairs;',
  }),
  mutant('loses the rounds of an answer that is over', 'context.ts', {
    from: 'addMessages(history, pairMessages(pairs, { text, reasoning }), { before: response.notes });\n    from = endChars;\n  }\n  addHeard(',
    to: 'void text;\n    from = endChars;\n  }\n  addHeard(',
  }),
  mutant('does not show the LLM the rounds of its own answer', 'context.ts', {
    from: 'messages.push(...pairMessages(pairs, { text, reasoning }));',
    to: 'void text;',
  }),
  mutant('waits for an answer when the conversation goes on', 'tools-cut.ts', {
    from: "cutRound(site, 'the caller did not answer the question; the call was not run');\n  releaseCutRound(state);",
    to: '',
  }),
  mutant('tries effects again', 'tools.ts', {
    from: "kind === 'read_only' &&\n    outcome.kind === 'failed'",
    to: "outcome.kind === 'failed'",
  }),
  mutant('does not tell its tools of a new turn', 'epoch.ts', {
    from: "tellTools(step, { type: 'epoch.moved', epoch: numbers.epoch });",
    to: '',
  }),
  mutant('lets results without their call into a small context', 'history.ts', {
    from: "while (messages[from]?.role === 'tool') from += 1;",
    to: '',
  }),
  mutant('runs calls whose arguments were cut', 'tools.ts', {
    from: "if (event.finish === 'length' || event.finish === 'content_filter')",
    to: "if (event.finish === 'content_filter')",
  }),
];

/** Mutants of rules that a scripted conversation holds. */
const rehearsed: readonly Mutant[] = [
  mutant('repeats an effect that succeeded', 'tools.ts', {
    from: "if (same.some((entry) => entry.state === 'done'))",
    to: "if (same.some((entry) => entry.state === 'failed'))",
  }),
  mutant('repeats an effect whose outcome is unknown', 'tools.ts', {
    from: "entry.state === 'unknown' || entry.state === 'running'",
    to: "entry.state === 'running'",
  }),
  mutant('reads on when the caller speaks', 'tools-cut.ts', {
    from: "if (record.kind !== 'read_only' || !isUnderWay(record)) continue;",
    to: 'if (record.key > 0) continue;',
  }),
  mutant('loses the outcome of effects that outlast an interruption', 'context.ts', {
    from: 'for (const { call, text } of lateOutcomes)',
    to: 'for (const { call, text } of lateOutcomes.slice(0, 0))',
  }),
  mutant('answers early without an outcome that has come', 'speculation.ts', {
    from: ' ||\n    waitsForSafePoint(state.tools);',
    to: ';',
  }),
  mutant('takes a yes to a line of somebody else', 'lines.ts', {
    from: "tellTools(step, { type: 'question.left' });",
    to: '',
  }),
  mutant('takes a yes to the idle question', 'speaking.ts', {
    from: 'awaitsWord(step.state) ? settings.confirmQuestion : settings.idle.ask',
    to: 'settings.idle.ask',
  }),
  mutant('hangs up on its own question', 'answering.ts', { from: 'response.hangUpAfter = false;', to: '' }),
  mutant('takes an answer to a question that was hardly heard', 'speaking.ts', {
    from: 'if (asks !== undefined && chars >= (asks.from + response.text.length) / 2)',
    to: 'if (asks !== undefined)',
  }),
  mutant('offers tools for ever', 'tools-run.ts', {
    from: 'withTools: round.number < settings.maxRounds',
    to: 'withTools: true',
  }),
  mutant('forgets what tools did when TTS makes no sound', 'output.ts', {
    from: 'if (!hangUpAfter) enterHeard(state.conversation.history, response, 0);',
    to: '',
  }),
  mutant('does not move a flow between rounds', 'answering.ts', {
    from: 'sayOnEntry(step, response, reachSafePoint(step));',
    to: '',
  }),
  mutant('keeps an early answer of the old node', 'speculation.ts', {
    from: 'state.conversation.flow?.pending !== undefined ||',
    to: '',
  }),
  mutant('does not end a call where its flow ends', 'flow.ts', {
    from: 'return node.end && state.pending === undefined ?',
    to: 'return node.end && state.pending !== undefined ?',
  }),
  mutant('forgets reasoning over a question', 'answering.ts', {
    from: 'pairs, reasoning: state.tools.reasoning });',
    to: 'pairs, reasoning: undefined });',
  }),
  mutant('says a filler into its own words', 'answering.ts', {
    from: 'response?.inTools === true && response.silentAt !== undefined;',
    to: 'response?.inTools === true;',
  }),
  mutant('takes an effect that did not answer for one that failed', 'tools.ts', {
    from: "if (entry !== undefined) entry.state = 'unknown';",
    to: "if (entry !== undefined) entry.state = 'failed';",
  }),
  mutant('does not tell that a tool has ended', 'epoch.ts', {
    from: "if (order.type === 'tool.ended') tell(step, order);",
    to: "if (order.type === 'tool.ended') continue;",
  }),
  mutant('tells of a tool at each of its tries', 'answering.ts', {
    from: 'if (order.attempt === 1) tell(',
    to: 'tell(',
  }),
  mutant('collects keys that nobody wants', 'keys.ts', { from: 'if (!settings.collect) return;', to: '' }),
];

export const toolMutants: readonly Mutant[] = [...simulatedToolMutants, ...rehearsed];
