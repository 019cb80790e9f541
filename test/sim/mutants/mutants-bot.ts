/** The bot's side of the core, broken on purpose: answers, lines, silence, and what was heard. */
import { mutant, type Mutant } from './mutant.ts';

export const botMutants: readonly Mutant[] = [
  mutant('keeps text that nobody heard', 'speaking.ts', {
    from: '  enterHeard(state.conversation.history, response, chars);\n  const { asks }',
    to: '  enterHeard(state.conversation.history, response, onTheWire ? response.text.length : 0);\n  const { asks }',
  }),
  mutant('forgets text that was heard', 'speaking.ts', {
    from: '  enterHeard(state.conversation.history, response, chars);\n  const { asks }',
    to: '  enterHeard(state.conversation.history, response, 0);\n  const { asks }',
  }),
  mutant('forgets answers that were played to their end', 'speaking.ts', {
    from: 'enterHeard(state.conversation.history, response, response.text.length);',
    to: 'enterHeard(state.conversation.history, response, 0);',
  }),
  mutant('remembers an answer that never became audible', 'speaking.ts', {
    from: "const onTheWire = response.phase !== 'waiting';",
    to: "const onTheWire = response.phase !== 'waiting' || response.text !== '';",
  }),
  mutant('takes text of an older request', 'call.ts', {
    from: 'if (response === undefined || response.round !== event.round) return;',
    to: 'if (response === undefined) return;',
  }),
  mutant('takes text of a request that is over', 'call.ts', {
    from: 'if (!response.writing || response.inTools) return;',
    to: '',
  }),
  mutant('takes facts about audio of an older context', 'call.ts', {
    from: 'if (step.state.delivery.response?.context === event.context)',
    to: 'if (step.state.delivery.response !== undefined)',
  }),
  mutant('does not clear when the caller cuts in', 'speaking.ts', {
    from: "  actions.push({ type: 'playout.clear', epoch: state.numbers.epoch, wire: onTheWire });",
    to: '',
  }),
  mutant('clears without moving the epoch', 'speaking.ts', {
    from: "  nextEpoch(step);\n  tell(step, { type: 'turn.interrupted'",
    to: "  tell(step, { type: 'turn.interrupted'",
  }),
  mutant('lets the LLM write on after a cut', 'speaking.ts', {
    from: "    if (cancels) step.actions.push({ type: 'llm.cancel' });",
    to: '',
  }),
  mutant('tells of a round that never ends', 'speaking.ts', {
    from: "    tell(step, { type: 'bot.llm_stopped', epoch: response.epoch });",
    to: '',
  }),
  mutant('tells no interruption', 'speaking.ts', {
    from: "  tell(step, { type: 'turn.interrupted', epoch: state.numbers.epoch });",
    to: '',
  }),
  mutant('tells twice that the bot began', 'speaking.ts', {
    from: "former !== undefined && (former.wasAudible || former.phase !== 'waiting')",
    to: 'false',
  }),
  mutant('lets TTS speak on after a cut', 'speaking.ts', {
    from: "  actions.push({ type: 'tts.cancel', context: response.context });",
    to: '',
  }),
  mutant('never resumes after a candidate that died', 'silence.ts', {
    from: "  step.actions.push({ type: 'playout.resume' });",
    to: '',
  }),
  mutant('waits for the marks of a response that was cut', 'heard.ts', {
    from: '  pieces: [],\n  marks: new Map(),',
    to: '  pieces: [],\n  marks: (newHeardState as unknown as { kept: Map<string, PendingMark> }).kept ??= new Map(),',
  }),
  mutant('does not wait for marks at all', 'output.ts', {
    from: '  if (response.heard.marks.size === 0 && response.heard.echoedChars >= response.text.length)\n    completeResponse(step);',
    to: '  completeResponse(step);',
  }),
  mutant('forgets the deadline of silence', 'timers.ts', {
    from: "  { name: 'silence', due: silenceDeadline, fire: onSilenceDeadline },",
    to: '',
  }),
  mutant('forgets the deadline of the last mark', 'timers.ts', {
    from: "  { name: 'last mark', due: lastMarkDeadline, fire: completeResponse },",
    to: "  ...(Date.now() < 0 ? [{ name: 'last mark' as const, due: lastMarkDeadline, fire: completeResponse }] : []),",
  }),
  mutant('forgets the deadline of keys', 'timers.ts', {
    from: "  { name: 'keys', due: ({ keys }) => keys.completeAt, fire: onDtmfDeadline },",
    to: '',
  }),
  mutant('forgets the deadline of the call', 'timers.ts', {
    from: 'due: ({ course }) => courseDeadline(course), fire',
    to: 'due: ({ course }) => (courseDeadline(course), undefined), fire',
  }),
  mutant('keeps half a word', 'heard.ts', {
    from: 'return wordStart === -1 ? chars : wordStart;',
    to: 'return wordStart === -1 ? chars : Math.max(wordStart, chars);',
  }),
  mutant('ignores what the client echoed', 'heard.ts', {
    from: 'const whole = wholeWords(text, Math.max(Math.min(place.chars, text.length), heard.echoedChars));',
    to: 'const whole = wholeWords(text, Math.max(0, Math.min(place.chars, text.length) - 12));',
  }),
  mutant('ignores the delay of the client', 'heard.ts', {
    from: '  return Math.max(heard.echoedMs, Math.min(sentMs - Math.max(0, behindMs), unechoedMs(heard, client)));',
    to: '  return Math.max(heard.echoedMs, Math.min(sentMs - 0 * behindMs, unechoedMs(heard, client) + Infinity));',
  }),
  mutant('takes the time that an echo needs for time in which the client plays', 'client-playout.ts', {
    from: 'Math.max(0, least(client) - (client.lagMs ?? 0))',
    to: 'Math.max(0, least(client))',
  }),
  mutant(
    'takes the newest echo for the delay of a client whose echoes come late by chance',
    'client-playout.ts',
    {
      from: 'Math.min(...delays)',
      to: '(delays.at(-1) ?? 0)',
    },
  ),
  mutant('forgets that the client plays on while the output is held', 'heard.ts', {
    from: 'stored - gapsWithin(heard, now - stored, { to: now })',
    to: 'stored - 0 * gapsWithin(heard, now - stored, { to: now })',
  }),
  mutant('ignores what the transport acknowledged', 'heard.ts', {
    from: '  if (acknowledged !== undefined) return',
    to: '  if (acknowledged !== undefined && now < 0) return',
  }),
  mutant('ignores the times of words', 'heard.ts', {
    from: 'if (known !== undefined) return',
    to: 'if (known !== undefined && known < 0) return',
  }),
  mutant('believes the last known word of a session that has just begun', 'heard.ts', {
    from: '  return ms - foundMs > longestWordMs ? undefined : found;',
    to: '  return found;',
  }),
  mutant('takes an echo that comes too soon for the delay of the client', 'heard.ts', {
    from: 'const tellsDelay = gap === undefined || gap.toAt !== undefined;',
    to: 'const tellsDelay = gap === undefined || gap.fromAt >= 0;',
  }),
  mutant('hears words twice where a session of STT follows another', 'turn.ts', {
    from: "return withoutSeam(segments).join(' ');",
    to: "return (segments.map(({ text }) => text) ?? withoutSeam(segments)).join(' ');",
  }),
  mutant('places words that are respelled by their share of the audio', 'heard.ts', {
    from: '  if (written === undefined) return',
    to: '  return',
  }),
  mutant('keeps a sentence that an estimate has only just reached', 'heard.ts', {
    from: '  return chars - beginChars < doubtfulChars ? endChars : chars;',
    to: '  void [endChars, doubtfulChars];\n  return chars;',
  }),
  mutant('counts a word whose end an estimate has only just reached', 'heard.ts', {
    from: 'Math.max(0, chars - 0.5)',
    to: 'Math.max(0, chars)',
  }),
  mutant('cuts what was played to its end at the same instant', 'candidate.ts', {
    from: "response?.phase === 'draining' && now >= response.endsBy;",
    to: "response?.phase === 'draining' && now > response.endsBy;",
  }),
  mutant('says the farewell into the words of the caller', 'output.ts', {
    from: 'if (!quiet || isAnnounced(response) ||',
    to: 'if ((!quiet && !state.faults.lastWords) || isAnnounced(response) ||',
  }),
  mutant('apologises into the words of a caller who has just spoken', 'output.ts', {
    from: " && state.caller.turn.phase !== 'fading';",
    to: ';',
  }),
  mutant('cuts a line for the echo of what the line has cut', 'candidate.ts', {
    from: 'const before = isNear || response === undefined',
    to: 'const before = (isNear && lastSaid.endedAt < -Infinity) || response === undefined',
  }),
  mutant('reads markup out', 'response.ts', {
    from: 'if (keys.length === 0) return withoutMarkup;',
    to: 'if (keys.length === 0) return (text) => text;',
  }),
  mutant('takes the end of all audio for the end of an early piece', 'heard.ts', {
    from: 'if (piece.endSaid <= said) newest = piece;',
    to: 'if (piece.endSaid <= said && piece.endMs === undefined) newest ??= piece;',
  }),
  mutant('ignores a hang-up', 'call.ts', {
    from: '      endCourse(step.state.course);\n',
    to: '',
  }),
  mutant('ignores a shutdown', 'call.ts', {
    from: "      endCall(step, 'shutdown');",
    to: '      endSoon(step.state.course);',
  }),
  mutant('never asks a silent caller', 'idle.ts', {
    from: '  if (askAfterMs > 0) state.silence.idle.askAt ??= now + askAfterMs;',
    to: '  void now;\n  void askAfterMs;',
  }),
  mutant('asks for ever', 'idle.ts', {
    from: "idle.asks > setup.settings.idle.endAfter ? 'farewell' : 'question'",
    to: "'question'",
  }),
  mutant('does not apologise', 'answering.ts', {
    from: 'writeText(response, space + (response.again ? outage.hold : apology), voiceOf(step));',
    to: 'void [space, outage, apology];',
  }),
  mutant('does not try a lost answer again', 'outage.ts', {
    from: '  state.silence.retryAt = now;',
    to: '',
  }),
  mutant('tries a lost answer again although the caller has spoken', 'speaking.ts', {
    from: '  step.state.silence.retryAt = undefined;',
    to: '',
  }),
  mutant('does not say that it is back', 'answering.ts', {
    from: "response.again ? step.state.setup.settings.outage.back : ''",
    to: "''",
  }),
  mutant('speaks a text for ever that TTS cannot say', 'output.ts', {
    from: 'if (isUseless && !outputHeld(state)) {',
    to: 'if (isUseless && 1 + 1 === 3) {',
  }),
  mutant('glues the first words of a stalled LLM to the apology', 'answering.ts', {
    from: "  response.splitter.pending = '';\n  speakInstead",
    to: '  speakInstead',
  }),
  mutant('fills no silence', 'silence.ts', {
    from: 'else fillSilence(step, response);',
    to: 'else void fillSilence;',
  }),
  mutant('says "one moment" right before it apologises', 'silence.ts', {
    from: 'return response.llmAt + llmSilentMs - now < fillerAgainMs;',
    to: 'return false;',
  }),
  mutant('repeats the first filler', 'quiet.ts', {
    from: 'lines[silence.fillersSpoken % Math.max(1, lines.length)]',
    to: 'lines[0]',
  }),
  mutant('waits for ever behind a filler', 'silence.ts', {
    from: 'return limits.fillerAgainMs;',
    to: 'return 2 * limits.fillerAgainMs;',
  }),
  mutant('never gives up a TTS that says nothing', 'silence.ts', {
    from: 'if (ttsOwes(state, response)) return audibleWithin(state, response);',
    to: 'if (ttsOwes(state, response)) return undefined;',
  }),
  mutant('waits twice for two sessions of TTS that say nothing', 'output.ts', {
    from: 'if (fills) again.silentAt = now;',
    to: 'again.silentAt = now;',
  }),
  mutant('floods a TTS that reports nothing with fillers', 'silence.ts', {
    from: 'if (state.delivery.ttsReports || response.said > response.starvedSaid) return true;',
    to: 'if (state.delivery.ttsReports) return true;',
  }),
  mutant('does not notice that TTS runs dry', 'output.ts', {
    from: '  response.silentAt ??= step.now;\n',
    to: '',
  }),
  mutant('repeats what TTS had already spoken', 'output.ts', {
    from: 'speakAgain(step, response, unfilled(response, chars) + response.splitter.pending);',
    to: 'speakAgain(step, response, unfilled(response, 0) + response.splitter.pending);',
  }),
  mutant('repeats fillers that nobody waits for', 'response.ts', {
    from: '    text += response.text.slice(at, Math.max(at, from));\n    at = to;',
    to: '    text += response.text.slice(at, Math.max(at, to));\n    at = to;',
  }),
  mutant('does not hang up after the farewell', 'speaking.ts', {
    from: 'response.hangUpAfter || response.source',
    to: 'response.source',
  }),
  mutant('plays a repeated answer into a candidate', 'speaking.ts', {
    from: '  if (outputHeld(state)) {',
    to: '  if (outputHeld(state) && state.numbers.context < 0) {',
  }),
  mutant('loses the speech that outlasts a response', 'call.ts', {
    from: 'if (hadResponse && state.delivery.response === undefined) adoptSpeech(step);',
    to: 'void hadResponse; void adoptSpeech;',
  }),
  mutant('promotes an answer to other words', 'speculation.ts', {
    from: '    speculation.text !== text ||\n',
    to: '',
  }),
  mutant('promotes an answer that did not know of the keys', 'keys.ts', {
    from: '  dropSpeculation(step);\n',
    to: '  void dropSpeculation;\n',
  }),
  mutant('speaks an answer before the turn is over', 'speculation.ts', {
    from: '    speculation.held += event.text;',
    to: "    speculation.held += event.text;\n    step.actions.push({ type: 'tts.speak', context: step.state.numbers.context, text: event.text });",
  }),
  mutant('wastes requests without end', 'speculation.ts', {
    from: 'state.guess.wasted < maxWastedRounds &&',
    to: 'maxWastedRounds > 0 &&',
  }),
  mutant('keeps an answer to words that have changed', 'speculation.ts', {
    from: '    dropSpeculation(step);\n  }\n  if (turn.phase',
    to: '  }\n  if (turn.phase',
  }),
  mutant('lets a dropped request write on', 'speculation.ts', {
    from: "  if (speculation.done === undefined) step.actions.push({ type: 'llm.cancel' });",
    to: '',
  }),
  mutant('lets any number of lines wait', 'commands.ts', {
    from: 'export const mostWaiting = 8;',
    to: 'export const mostWaiting = 80;',
  }),
  mutant('speaks the newest line first', 'lines.ts', {
    from: 'commands.lines.push({',
    to: 'commands.lines.unshift({',
  }),
  mutant('waits in silence where the agent has no fillers', 'speaking.ts', {
    from: 'const lines = fillers.length > 0 ? fillers : lateLines;',
    to: 'void lateLines;\n  const lines = fillers;',
  }),
  mutant('fills early where the agent has no fillers', 'silence.ts', {
    from: 'fillers.length > 0 ? limits.fillerAfterMs : limits.lateAfterMs',
    to: 'fillers.length > 0 ? limits.fillerAfterMs : limits.fillerAfterMs',
  }),
  mutant('fills at the filler time of a tool where the agent has no fillers', 'answering.ts', {
    from: 'if (waits && step.state.setup.settings.fillers.length > 0) fillSilence',
    to: 'if (waits) fillSilence',
  }),
  mutant('speaks a line into the words of the caller', 'lines.ts', {
    from: 'if (line === undefined || !quiet || isEnding(state.course)) return;',
    to: 'void quiet;\n  if (line === undefined || isEnding(state.course)) return;',
  }),
  mutant('cuts for every line', 'lines.ts', {
    from: 'if (!line.cuts || response',
    to: 'if (response',
  }),
  mutant('keeps lines that an interrupting one replaces', 'lines.ts', {
    from: '  if (interrupt) dropLines(step, commands);',
    to: '',
  }),
  mutant('loses the answer that a line has cut', 'lines.ts', {
    from: "    state.conversation.owed ||= response.source === 'answer' && response.phase === 'waiting';",
    to: '',
  }),

  mutant('forgets what was heard of an answer that another worker had sent', 'speaking.ts', {
    from: 'position : drainedPosition(response),',
    to: 'position : undefined,',
  }),
];
