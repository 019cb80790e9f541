/** The caller's side of the core, broken on purpose: turns, interruptions, STT, and what another worker had heard. */
import { always, and, mutantsOf, never, remove, replace, swap, type Mutant } from './mutant.ts';
import {
  argument,
  call,
  condition,
  element,
  first,
  guard,
  inside,
  last,
  operand,
  returned,
  statement,
  term,
  value,
} from './places.ts';

export const callerMutants: readonly Mutant[] = mutantsOf({
  'hear.ts: holdOutput': {
    'does not hold the output for a candidate': remove(call('push', 'playout.pause')),
  },
  'candidate.ts: endFading': {
    'throws away what STT tells after the bot has gone on': replace(
      statement('beginAside'),
      "setAside(step.state); step.state.caller.turn = { phase: 'idle' };",
    ),
  },
  'candidate.ts: tellingWords': {
    'lets a single word of the bot that comes late interrupt it': never(condition('late')),
    'takes words of listening for an interruption': replace(call('withoutListening'), 'own'),
    'takes half a phrase of listening for an interruption': replace(value('options'), '{ patient }'),
    'takes the echo of the bot for an interruption': replace(
      call('withoutEcho'),
      'spokenWords(wholeText(words))',
    ),
  },
  'candidate.ts: beginCandidate': {
    'forgets an aside when the caller goes on': never(condition('aside')),
  },
  'candidate.ts: firstOutput': {
    'holds the bot for its own echo': remove(operand('echoes')),
  },
  'candidate.ts: goOnWhenListening': {
    'goes on by words of an aside while STT owes more of it': remove(operand('owesAside')),
  },
  'candidate.ts: interrupts': {
    'waits for words where only an aside has some': remove(operand('owesAside')),
    'does not interrupt by words': remove(statement('isHalfPhrase')),
    'interrupts by voice where words are asked for': remove(operand('mayBeWordless')),
    'waits for words where STT has only the echo': remove(operand('isNoEcho', 'own')),
    'takes words of listening for an interruption where the echo is known': remove(operand('own', '===')),
    'asks for words although the voice is surely not the echo': replace(
      operand('isNoEcho', 'echoes'),
      '!agent.echoes',
    ),
    'never takes listening that goes on for an interruption': never(operand('listeningMs')),
  },
  'candidate.ts: longestHoldMs': {
    'holds the output for as long as the caller makes a noise': replace(value('longestHoldMs'), '250_000'),
  },
  'candidate.ts: beginFading': {
    'does not ask what a candidate said': remove(last(call('finalize'))),
    'stands still behind a nod': remove(statement('goOnSoftly')),
  },
  'candidate.ts: mayBeWordless': {
    'never interrupts by voice where words are asked for': never(operand('lastedMs')),
  },
  'candidate.ts: onVoiceLasted': {
    'does not listen to how long a voice lasts': remove(statement('Math')),
  },
  'agent-side.ts: interruptible': {
    'lets the caller interrupt a line that may not be': replace(
      operand('response'),
      'response !== undefined',
    ),
  },
  'candidate.ts: listeningWords': {
    'takes the goodbye of the caller for more to say': never(condition('isFarewell')),
  },
  'hear.ts: takeOver': {
    'forgets the question of a caller who goes on while the LLM thinks': remove(statement('owed')),
  },
  'candidate.ts: halfPhraseMs': {
    'lets "no" wait for more words for as long as the voice goes on': replace(
      value('halfPhraseMs'),
      '60_000',
    ),
  },
  'candidate.ts: onCandidateDeadline': {
    'forgets a word that might have been half a phrase': never(condition('halfAt')),
  },
  'candidate.ts: isHalfPhrase': { 'lets "no" wait while the bot speaks': remove(operand('plain')) },
  'hear.ts: isThinking': {
    'loses the question behind a filler that a noise has cut': swap(returned(), '||', '&&'),
  },
  'listening.ts: onSpeechStarted': {
    'hears nobody where interruptions are off': and(
      guard(first(call('beginCandidate'))),
      'state.setup.settings.interrupt.enabled',
    ),
  },
  'turn-ended.ts: answerTurn': {
    'answers words while keys are being pressed': never(condition('isPressing')),
  },
  'listening.ts: finalDeadline': {
    'takes the wait for keys for an STT that says nothing': remove(operand('owed')),
  },
  'listening.ts: onVoiceResumed': {
    'does not listen to a voice after it asked early': remove(call('listen')),
  },
  'listening.ts: goOn': {
    'drops what was said before the caller went on': replace(
      call('ownOf'),
      '{ ...ownOf(turn), words: newWords() }',
    ),
  },
  'turn-ended.ts: isPart': {
    'acts on a part of what was said': never(returned()),
  },
  'turn-ended.ts: answerNothing': {
    'does not say the rest of what was cut by mistake': remove(call('startText')),
    'apologises for ever to somebody who mumbles': always(operand('wordlessTurns')),
  },
  'listening.ts: onSttSilent': { 'waits for a text that nobody makes any more': remove(call('end')) },
  'listening.ts: onSttFinalized': {
    'takes a finalize of no audio for a proof that STT lives': remove(operand('isEmpty')),
    'counts a time limit that STT let pass as its answer': remove(
      inside(condition('isEmpty'), operand('isLate')),
    ),
  },
  'aside.ts: settleAside': {
    'forgets what was said into a response': remove(operand('much')),
  },
  'hear.ts: perform': {
    'leaves an entry of keys without an answer behind an aside that was nothing': remove(
      call('startOwedAnswer'),
    ),
  },
  'aside.ts: weightOf': {
    'answers listening that was said into a response': always(condition('telling')),
    'answers its own voice where STT misheard a word of it': remove(statement('ownShare')),
  },
  'aside.ts: mayAnswer': {
    'does not take a word into the last words for an answer': remove(term('answersWithinMs')),
  },
  'aside.ts: weighAside': {
    'lets a sound that STT tells late into the next turn': remove(call('forgetWords')),
  },
  'answering.ts: perform': { 'lets the caller interrupt every farewell': remove(statement('mayStay')) },
  'parting.ts: hasMore': {
    'answers the goodbye that cut its own': replace(value('isTelling'), 'words.length > 0'),
  },
  'parting.ts: takeLeave': {
    'never believes an LLM that insists on the end': replace(value('parting'), "'none'"),
  },
  'speaking.ts: completeResponse': {
    'hangs up on a caller who speaks at the end of a farewell': never(operand('nobodySpeaks')),
  },
  'call.ts: settle': { 'keeps a call open for a noise': remove(call('settleParting')) },
  'keys.ts: takeEntry': {
    'starts a second response beside the first': remove(
      inside(condition('nobodySpeaks'), operand('isAlone')),
    ),
    'puts keys before the words that they were pressed behind': swap(operand('idle'), '!==', '==='),
  },
  'pause.ts: reviewPause': {
    'lets a noise that flickers hold a turn open': remove(argument(call('Math.min'), 'latest')),
    'lets a voice that comes back be cut off': remove(argument(call('Math.max'), 'holdBy')),
  },
  'pause.ts: onTurnJudged': {
    'takes the answer of the turn model to an older question': remove(operand('ask')),
  },
  'pause.ts: askEarlyAt': {
    'asks early without waiting for what is owed': replace(condition('owed'), "turn.phase !== 'pausing'"),
  },
  'end-of-turn.ts: ofSentence': {
    'ignores the turn model': always(guard(returned('hesitantFactor'))),
    'believes the turn model against the words': replace(returned('hesitant', 'stopMs'), 'stopMs'),
    'believes the turn model against a finished sentence': never(last(condition('finished'))),
    'takes an unfinished turn for a finished one': replace(returned('doubt'), 'waitMs'),
    'does not hear hesitation': replace(returned('hesitantFactor'), 'waitMs'),
    'does not hear that a sentence is finished': never(condition('finished', 'patienceMs')),
  },
  'end-of-turn.ts: byWords': {
    'does not hear that words have only begun': replace(value('begun'), '0'),
    'does not hear that words are whole': never(condition('whole')),
    'believes the turn model against words that have only begun': remove(
      inside(value('odds'), term('whole')),
    ),
  },
  'end-of-turn.ts: noteSpeechAfterDecision': {
    'has no patience': remove(statement('extraMs')),
    'has patience without end': remove(argument(call('Math.min'), 'maxPatienceMs')),
  },
  'end-of-turn.ts: noteRightEnd': { 'never loses its patience': remove(statement('extraMs')) },
  'timers.ts: timers': { 'forgets the deadline of a turn': remove(element('decision')) },
  'hearing.ts: flush': { 'does not wait for the text that was asked for early': remove(call('owe')) },
  'hearing.ts: reopenStt': {
    'keeps a dead STT session': remove(call('push', 'stt.reopen')),
    'does not give a new STT session the turn again': remove(call('push', 'stt.replay')),
    'gives a turn to new STT sessions for ever': remove(operand('replayed')),
  },
  'hearing.ts: deafAt': { 'does not notice that STT is deaf': replace(returned('sttDeafMs'), 'undefined') },
  'hearing.ts: sttDeadline': { 'forgets what STT owes': replace(returned(), 'deaf') },
  'turn.ts: forgetReplayed': {
    'forgets what was known when the session of STT died': remove(statement('fallback')),
  },
  'caller.ts: isQuiet': {
    'answers keys into the words of the caller': replace(
      returned(),
      "turn.phase === 'idle' || voice === 'speech'",
    ),
  },
  'turn-ended.ts: kindOf': {
    'answers the echo of the bot': replace(returned('echo'), "'words'"),
    'answers a lone full stop': replace(first(returned('silence')), "text === '' ? 'silence' : 'words'"),
  },
  'resume.ts: resumeResponse': { 'says again what another worker had said': replace(value('kept'), '0') },
  'resumed.ts: resumeTurn': {
    'forgets the turn that another worker had heard': replace(value('words'), 'keptWords(newWords())'),
  },
  'resumed.ts: forgetVoice': {
    'forgets the beginning of a long turn that another worker had heard': replace(
      call('forgetGiven'),
      "Object.assign(caller.turn.words, { finals: [], partial: '' })",
    ),
  },
});
