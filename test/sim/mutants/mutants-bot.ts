/** The agent's side of the core, broken on purpose: answers, lines, silence, and what was heard. */
import {
  always,
  and,
  insertAfter,
  mutantsOf,
  never,
  or,
  remove,
  replace,
  swap,
  type Mutant,
} from './mutant.ts';
import {
  argument,
  call,
  condition,
  element,
  first,
  guard,
  last,
  operand,
  returned,
  statement,
  term,
  value,
} from './places.ts';

export const botMutants: readonly Mutant[] = mutantsOf({
  'speaking.ts: cutResponse': {
    'keeps text that nobody heard': replace(
      argument(call('enterHeard'), 'chars'),
      'onTheWire ? response.writing.text.length : 0',
    ),
    'forgets text that was heard': replace(argument(call('enterHeard'), 'chars'), '0'),
    'remembers an answer that never became audible': or(value('onTheWire'), "response.writing.text !== ''"),
    'does not clear when the caller cuts in': remove(call('push', 'playout.clear')),
    'clears without moving the epoch': remove(last(call('nextEpoch'))),
    'tells no interruption': remove(call('tell', 'turn.interrupted')),
    'lets TTS speak on after a cut': remove(call('push', 'tts.cancel')),
  },
  'speaking.ts: heardOf': {
    'forgets what was heard of an answer that another worker had sent': replace(
      call('drainedPosition'),
      'undefined',
    ),
  },
  'speaking.ts: closeResponse': {
    'forgets answers that were played to their end': replace(
      argument(first(call('enterHeard')), 'length'),
      '0',
    ),
  },
  'speaking.ts: completeResponse': {
    'does not hang up after the farewell': remove(operand('hangUpAfter')),
  },
  'speaking.ts: stopLlm': {
    'lets the LLM write on after a cut': remove(call('push', 'llm.cancel')),
    'tells of a round that never ends': remove(call('tell', 'bot.llm_stopped')),
  },
  'speaking.ts: openResponse': {
    'tells twice that the bot began': never(value('wasAudible')),
    'plays a repeated answer into a candidate': never(condition('outputHeld')),
  },
  'speaking.ts: openAnswer': {
    'tries a lost answer again although the caller has spoken': remove(statement('retryAt')),
  },
  'speaking.ts: speakForSilence': {
    'waits in silence where the agent has no fillers': replace(value('lines'), 'fillers'),
  },
  'step-response.ts: takeLlm': {
    'takes text of an older request': remove(operand('response', 'round')),
    'takes text of a request that is over': remove(statement('writing', 'llm')),
  },
  'step-response.ts: take': {
    'takes facts about audio of an older context': replace(condition('context'), 'response !== undefined'),
  },
  'call.ts: take': {
    'ignores a hang-up': remove(call('endCourse')),
    'ignores a shutdown': replace(call('onShutdown'), 'endSoon(step.state.course)'),
  },
  'shutdown.ts: onShutdown': {
    'takes leave of nobody when the service stops': always(operand('longMs', 'undefined')),
  },
  'shutdown.ts: onShutdownDue': {
    'lets an answer keep a caller from the farewell': remove(call('startLine')),
    'says a farewell twice when the service stops': never(operand('takesLeave')),
  },
  'shutdown.ts: farewellMs': { 'begins a farewell too late': replace(value('startMs'), '-3_000') },
  'call.ts: settle': { 'loses the speech that outlasts a response': remove(call('hear', 'response.ended')) },
  'silence.ts: resumeOutput': {
    'never resumes after a candidate that died': remove(call('push', 'playout.resume')),
  },
  'silence.ts: onSilenceDeadline': { 'fills no silence': remove(call('fillSilence')) },
  'silence.ts: isAllButGone': {
    'says "one moment" right before it apologises': never(returned('llmSilentMs')),
  },
  'silence.ts: longestWait': {
    'waits for ever behind a filler': replace(returned('fillerAgainMs'), '2 * limits.fillerAgainMs'),
    'never gives up a TTS that says nothing': replace(returned('audibleWithin'), 'undefined'),
    'fills early where the agent has no fillers': swap(
      returned('lateAfterMs'),
      'lateAfterMs',
      'fillerAfterMs',
    ),
  },
  'response.ts: ttsOwes': {
    'floods a TTS that reports nothing with fillers': remove(operand('starvedSaid')),
  },
  'heard.ts: newHeardState': {
    'waits for the marks of a response that was cut': replace(
      value('marks'),
      '(newHeardState as any).kept ??= new Map()',
    ),
  },
  'heard.ts: wholeWords': { 'keeps half a word': always(condition('wordStart')) },
  'heard.ts: heardChars': {
    'ignores what the client echoed': replace(
      argument(call('wholeWords'), 'echoedChars'),
      'Math.max(0, place.chars - 12)',
    ),
  },
  'heard.ts: playedMs': {
    'ignores the delay of the client': replace(returned('unechoedMs'), 'Math.max(heard.echoedMs, sentMs)'),
    'forgets that the client plays on while the output is held': remove(term('gapsWithin')),
    'ignores what the transport acknowledged': never(condition('acknowledged')),
  },
  'heard.ts: placeWithin': {
    'ignores the times of words': never(condition('known')),
    'counts a word whose end an estimate has only just reached': remove(term('0.5')),
  },
  'heard.ts: wordAt': {
    'believes the last known word of a session that has just begun': never(condition('longestWordMs')),
  },
  'heard.ts: noteMarkSent': {
    'takes an echo that comes too soon for the delay of the client': always(operand('toAt')),
  },
  'heard.ts: textOffset': {
    'places words that are respelled by their share of the audio': always(condition('written')),
  },
  'heard.ts: withoutDoubtfulSentence': {
    'keeps a sentence that an estimate has only just reached': never(condition('doubtfulChars')),
  },
  'heard.ts: noteSpoken': {
    'takes the end of all audio for the end of an early piece': replace(
      statement('newest', 'endSaid'),
      'if (piece.endSaid <= said && piece.endMs === undefined) newest ??= piece;',
    ),
  },
  'output.ts: onPlayoutDrained': { 'does not wait for marks at all': always(condition('marks')) },
  'output.ts: onNoAudio': {
    'says the farewell into the words of the caller': and(operand('quiet'), '!state.faults.lastWords'),
    'apologises into the words of a caller who has just spoken': remove(operand('fading')),
  },
  'output.ts: speakAgain': {
    'speaks a text for ever that TTS cannot say': never(condition('isUseless')),
    'waits twice for two sessions of TTS that say nothing': always(guard(value('silentAt'))),
  },
  'output.ts: onPlayoutStarved': { 'does not notice that TTS runs dry': remove(statement('silentAt')) },
  'output.ts: speakRest': {
    'repeats what TTS had already spoken': replace(argument(call('unfilled'), 'chars'), '0'),
  },
  'timers.ts: timers': {
    'forgets the deadline of silence': remove(element('silence')),
    'forgets the deadline of the last mark': remove(element('last mark')),
    'forgets the deadline of keys': remove(element('keys')),
    'forgets the deadline of the call': remove(element('time limit')),
  },
  'client-playout.ts: storedMs': {
    'takes the time that an echo needs for time in which the client plays': remove(term('lagMs')),
  },
  'client-playout.ts: least': {
    'takes the newest echo for the delay of a client whose echoes come late by chance': replace(
      call('Math.min'),
      'delays.at(-1) ?? 0',
    ),
  },
  'turn.ts: wholeText': {
    'hears words twice where a session of STT follows another': replace(
      call('withoutSeam'),
      'segments.map(({ text }) => text)',
    ),
  },
  'agent-side.ts: running': {
    'cuts what was played to its end at the same instant': swap(value('isPlayed'), '>=', '>'),
  },
  'candidate.ts: playedWords': {
    'cuts a line for the echo of what the line has cut': never(operand('isNear')),
  },
  'response.ts: newRespelling': { 'reads markup out': replace(first(returned()), '(text) => text') },
  'response.ts: unfilled': {
    'repeats fillers that nobody waits for': swap(call('Math.max', 'from'), 'from', 'to'),
  },
  'idle.ts: beginIdle': { 'never asks a silent caller': remove(statement('askAt')) },
  'idle.ts: onIdleDeadline': { 'asks for ever': never(condition('endAfter')) },
  'answering.ts: speakInstead': { 'does not apologise': remove(call('writeText')) },
  'answering.ts: onLlmText': { 'does not say that it is back': never(condition('again')) },
  'answering.ts: onLlmStalled': {
    'glues the first words of a stalled LLM to the apology': remove(statement('pending')),
  },
  'answering.ts: followTools': {
    'fills at the filler time of a tool where the agent has no fillers': remove(operand('fillers')),
  },
  'outage.ts: loseAnswer': { 'does not try a lost answer again': remove(statement('retryAt')) },
  'silence-state.ts: nextFiller': { 'repeats the first filler': replace(value('line'), 'lines[0]') },
  'speculation.ts: promoteSpeculation': {
    'promotes an answer to other words': remove(operand('speculation', 'text')),
  },
  'speculation.ts: onSpeculativeLlm': {
    'speaks an answer before the turn is over': insertAfter(
      statement('held', 'text'),
      "step.actions.push({ type: 'tts.speak', context: step.state.numbers.context, text: event.text });",
    ),
  },
  'speculation.ts: maySpeculate': { 'wastes requests without end': remove(operand('wasted')) },
  'speculation.ts: reviewSpeculation': {
    'keeps an answer to words that have changed': remove(call('dropSpeculation')),
  },
  'speculation.ts: dropSpeculation': {
    'lets a dropped request write on': remove(call('push', 'llm.cancel')),
  },
  'keys.ts: onDtmf': { 'promotes an answer that did not know of the keys': remove(call('dropSpeculation')) },
  'commands.ts: mostWaiting': { 'lets any number of lines wait': replace(value('mostWaiting'), '80') },
  'lines.ts: onLine': {
    'speaks the newest line first': swap(call('lines.push'), 'push', 'unshift'),
    'keeps lines that an interrupting one replaces': remove(call('dropLines')),
  },
  'lines.ts: speakWaiting': {
    'speaks a line into the words of the caller': remove(operand('quiet')),
    'cuts for every line': remove(operand('cuts')),
    'loses the answer that a line has cut': remove(statement('owed')),
  },
});
