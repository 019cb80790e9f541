/** The caller's side of the core, broken on purpose: turns, interruptions, STT, and what another worker had heard. */
import { mutant, type Mutant } from './mutant.ts';

export const callerMutants: readonly Mutant[] = [
  mutant('does not hold the output for a candidate', 'candidate.ts', {
    from: "  actions.push({ type: 'playout.pause' });",
    to: '',
  }),
  mutant('throws away what STT tells after the bot has gone on', 'candidate.ts', {
    from: '  beginAside(step, turn);\n',
    to: "  setAside(step.state);\n  step.state.caller.turn = { phase: 'idle' };\n",
  }),
  mutant('hears nobody where interruptions are off', 'listening.ts', {
    from: "beginCandidate(step, { isFaint });\n      return;\n    case 'aside':",
    to: "{ if (state.setup.settings.interrupt.enabled) beginCandidate(step); }\n      return;\n    case 'aside':",
  }),
  mutant('forgets what was said into a response', 'aside.ts', {
    from: "if (what === 'much' || listens) {",
    to: 'if (listens) {',
  }),
  mutant('answers listening that was said into a response', 'aside.ts', {
    from: "  if (telling.length > 0) return 'much';\n",
    to: "  if (telling.length >= 0) return 'much';\n",
  }),
  mutant('does not take a word into the last words for an answer', 'aside.ts', {
    from: '  lastVoiceAt >= lastSaid.endedAt - answersWithinMs;',
    to: '  lastVoiceAt >= lastSaid.endedAt + 99 * answersWithinMs;',
  }),
  mutant('answers its own voice where STT misheard a word of it', 'aside.ts', {
    from: "  if (own.length <= said.length * ownShare) return 'nothing';\n",
    to: '  void [said, ownShare];\n',
  }),
  mutant('lets a sound that STT tells late into the next turn', 'aside.ts', {
    from: '  if (wordsOf(state, turn).telling.length === 0) forgetWords(turn.words);',
    to: '  void forgetWords;',
  }),
  mutant('lets a single word of the bot that comes late interrupt it', 'candidate.ts', {
    from: 'late || state.delivery.echoes ? telling',
    to: 'late && own.length < 0 ? telling',
  }),
  mutant('forgets an aside when the caller goes on', 'candidate.ts', {
    from: "const words = turn.phase === 'aside' ? turn.words : newWords();",
    to: 'const words = newWords();',
  }),
  mutant('leaves an entry of keys without an answer behind an aside that was nothing', 'aside.ts', {
    from: '    startOwedAnswer(step);\n}',
    to: '    void startOwedAnswer;\n}',
  }),
  mutant('waits for words where only an aside has some', 'candidate.ts', {
    from: " || state.caller.stt.owed[0]?.fate === 'aside';",
    to: ';',
  }),
  mutant('holds the output for as long as the caller makes a noise', 'candidate.ts', {
    from: 'const longestHoldMs = 2_500;',
    to: 'const longestHoldMs = 250_000;',
  }),
  mutant('does not ask what a candidate said', 'candidate.ts', {
    from: '  step.state.caller.turn = fading;\n  finalize(step);',
    to: '  step.state.caller.turn = fading;',
  }),
  mutant('takes words of listening for an interruption', 'candidate.ts', {
    from: 'const telling = withoutListening(own, backchannels, { unfinished: true, partial: unfinished, patient });',
    to: 'const telling = own;',
  }),
  mutant('takes half a phrase of listening for an interruption', 'candidate.ts', {
    from: ', { unfinished: true, partial: unfinished, patient }',
    to: '',
  }),
  mutant('takes the echo of the bot for an interruption', 'candidate.ts', {
    from: 'const own = withoutEcho(spokenWords(wholeText(words)), played, { unfinished });',
    to: 'const own = spokenWords(wholeText(words));',
  }),
  mutant('does not interrupt by words', 'candidate.ts', {
    from: '  if (telling.length >= Math.max(1, minWords)) return !isHalfPhrase(state, turn, now);',
    to: '',
  }),
  mutant('interrupts by voice where words are asked for', 'candidate.ts', {
    from: '&& mayBeWordless(state, turn);',
    to: ';',
  }),
  mutant('never interrupts by voice where words are asked for', 'candidate.ts', {
    from: '(wordlessMs > 0 && lastedMs',
    to: '(wordlessMs < 0 && lastedMs',
  }),
  mutant('does not listen to how long a voice lasts', 'candidate.ts', {
    from: 'turn.lastedMs = Math.max(turn.lastedMs, lastedMs);',
    to: '',
  }),
  mutant('waits for words where STT has only the echo', 'candidate.ts', {
    from: 'if (wordless || (turn.isNoEcho && own.length === 0))',
    to: 'if (wordless)',
  }),
  mutant('takes words of listening for an interruption where the echo is known', 'candidate.ts', {
    from: '(turn.isNoEcho && own.length === 0)',
    to: 'turn.isNoEcho',
  }),
  mutant('asks for words although the voice is surely not the echo', 'candidate.ts', {
    from: '(turn.isNoEcho || !state.delivery.echoes)',
    to: '!state.delivery.echoes',
  }),
  mutant('never takes listening that goes on for an interruption', 'candidate.ts', {
    from: 'own.length > 0 && now - turn.startedAt >= listeningMs;',
    to: 'own.length > 0 && now < 0 * listeningMs;',
  }),
  mutant('lets the caller interrupt a line that may not be', 'candidate.ts', {
    from: 'response?.interruptible === true;',
    to: 'response !== undefined;',
  }),
  mutant('lets the caller interrupt every farewell', 'answering.ts', {
    from: '      response.interruptible = mayStay(state);\n',
    to: '',
  }),
  mutant('takes the goodbye of the caller for more to say', 'candidate.ts', {
    from: 'withGoodbyes(backchannels) : backchannels',
    to: 'backchannels : backchannels',
  }),
  mutant('answers the goodbye that cut its own', 'parting.ts', {
    from: 'withGoodbyes(backchannels)',
    to: 'backchannels',
  }),
  mutant('hangs up on a caller who speaks at the end of a farewell', 'speaking.ts', {
    from: 'mayStay(state) && !nobodySpeaks(state)',
    to: 'mayStay(state) && now < 0',
  }),
  mutant('keeps a call open for a noise', 'call.ts', { from: '  settleParting(step);\n', to: '' }),
  mutant('never believes an LLM that insists on the end', 'parting.ts', {
    from: "course.parting = 'refused';",
    to: "course.parting = 'none';",
  }),
  mutant('forgets the question of a caller who goes on while the LLM thinks', 'candidate.ts', {
    from: '    state.conversation.owed = true;\n',
    to: '',
  }),
  mutant('starts a second response beside the first', 'keys.ts', {
    from: 'if (isAlone && nobodySpeaks(step.state)) startOwedAnswer(step);',
    to: 'if (nobodySpeaks(step.state)) startOwedAnswer(step);',
  }),
  mutant('lets "no" wait for more words for as long as the voice goes on', 'candidate.ts', {
    from: 'const halfPhraseMs = 600;',
    to: 'const halfPhraseMs = 60_000;',
  }),
  mutant('forgets a word that might have been half a phrase', 'candidate.ts', {
    from: 'if (turn.halfAt !== undefined && interrupts(step, turn)) confirm(step, turn);\n    else endFading',
    to: 'endFading',
  }),
  mutant('lets "no" wait while the bot speaks', 'candidate.ts', {
    from: "if (turn.phase !== 'candidate' || !turn.held) return false;",
    to: "if (turn.phase !== 'candidate') return false;",
  }),
  mutant('answers words while keys are being pressed', 'listening.ts', {
    from: 'if (isPressing(state.keys) && ',
    to: 'if (isPressing(state.keys) && state.numbers.epoch < 0 && ',
  }),
  mutant('puts keys before the words that they were pressed behind', 'keys.ts', {
    from: "isAlone && caller.turn.phase !== 'idle' &&",
    to: "isAlone && caller.turn.phase === 'idle' &&",
  }),
  mutant('takes the wait for keys for an STT that says nothing', 'listening.ts', {
    from: "turn.phase === 'finalizing' && stt.owed.length > 0 ?",
    to: "turn.phase === 'finalizing' && stt.owed.length >= 0 ?",
  }),
  mutant('lets a noise that flickers hold a turn open', 'pause.ts', {
    from: 'Math.min(Math.max(turn.lastVoiceAt + waitMs, turn.holdBy), latest)',
    to: 'Math.max(turn.lastVoiceAt + waitMs, turn.holdBy, 0 * latest)',
  }),
  mutant('lets a voice that comes back be cut off', 'pause.ts', {
    from: 'Math.max(turn.lastVoiceAt + waitMs, turn.holdBy)',
    to: 'turn.lastVoiceAt + waitMs',
  }),
  mutant('ignores the turn model', 'end-of-turn.ts', {
    from: 'if (probability === undefined) {',
    to: 'if (probability === undefined || probability >= 0) {',
  }),
  mutant('believes the turn model against the words', 'end-of-turn.ts', {
    from: 'if (probability >= completeAt) return hesitant ? waitMs : stopMs;',
    to: 'if (probability >= completeAt) return stopMs;',
  }),
  mutant('believes the turn model against a finished sentence', 'end-of-turn.ts', {
    from: '  if (finished) return waitMs;\n',
    to: '',
  }),
  mutant('takes an unfinished turn for a finished one', 'end-of-turn.ts', {
    from: '  const doubt = 1 - probability / completeAt;',
    to: '  const doubt = 1 - probability / completeAt;\n  if (doubt >= 0) return waitMs;',
  }),
  mutant('does not hear hesitation', 'end-of-turn.ts', {
    from: '    if (!hesitant) return waitMs;\n',
    to: '    if (!hesitant || waitMs > 0) return waitMs;\n',
  }),
  mutant('does not hear that words have only begun', 'end-of-turn.ts', {
    from: 'const begun = Math.max(0, 1 - whole / perhapsWhole) ** 2;',
    to: 'const begun = 0;',
  }),
  mutant('does not hear that words are whole', 'end-of-turn.ts', {
    from: 'if (whole >= perhapsWhole && patienceMs === 0)',
    to: 'if (whole > 1)',
  }),
  mutant('believes the turn model against words that have only begun', 'end-of-turn.ts', {
    from: 'const odds = oddsOf(whole) *',
    to: 'const odds =',
  }),
  mutant('does not hear that a sentence is finished', 'end-of-turn.ts', {
    from: 'finished && patienceMs === 0',
    to: 'patienceMs < 0',
  }),
  mutant('has no patience', 'end-of-turn.ts', {
    from: '  patience.extraMs = Math.min(maxPatienceMs, patience.extraMs + patienceStepMs);',
    to: '',
  }),
  mutant('has patience without end', 'end-of-turn.ts', {
    from: 'Math.min(maxPatienceMs, patience.extraMs + patienceStepMs)',
    to: 'patience.extraMs + patienceStepMs + 0 * maxPatienceMs',
  }),
  mutant('never loses its patience', 'end-of-turn.ts', {
    from: '  patience.extraMs = Math.max(0, patience.extraMs - patienceStepMs);',
    to: '',
  }),
  mutant('takes the answer of the turn model to an older question', 'pause.ts', {
    from: "if (turn.phase !== 'pausing' || turn.ask !== ask) return;",
    to: "if (turn.phase !== 'pausing' || ask < 0) return;",
  }),
  mutant('forgets the deadline of a turn', 'timers.ts', {
    from: "  { name: 'decision', due: decisionDeadline, fire: decideWhenDue },",
    to: '',
  }),
  mutant('asks early without waiting for what is owed', 'pause.ts', {
    from: ' || stt.listeningAt === undefined || stt.owed.length > 0) return undefined;',
    to: ') return undefined;',
  }),
  mutant('does not wait for the text that was asked for early', 'hearing.ts', {
    from: "  step.actions.push({ type: 'stt.flush' });\n  owe(step);",
    to: "  step.actions.push({ type: 'stt.flush' });",
  }),
  mutant('does not listen to a voice after it asked early', 'listening.ts', {
    from: '    if (stt.listeningAt === undefined) listen(step, false);\n',
    to: '',
  }),
  mutant('keeps a dead STT session', 'hearing.ts', {
    from: "  step.actions.push({ type: 'stt.reopen' });\n",
    to: '',
  }),
  mutant('does not give a new STT session the turn again', 'hearing.ts', {
    from: "  if (replay) step.actions.push({ type: 'stt.replay' });",
    to: '',
  }),
  mutant('gives a turn to new STT sessions for ever', 'hearing.ts', {
    from: 'const replay = words !== undefined && !stt.replayed;',
    to: 'const replay = words !== undefined;',
  }),
  mutant('does not notice that STT is deaf', 'hearing.ts', {
    from: '  return stt.listeningAt + state.setup.settings.limits.sttDeafMs;',
    to: '  return undefined;',
  }),
  mutant('forgets what was known when the session of STT died', 'turn.ts', {
    from: "  if (text !== '') words.fallback = text;",
    to: '',
  }),
  mutant('drops what was said before the caller went on', 'listening.ts', {
    from: "  step.state.caller.turn = { phase: 'speaking', words, startedAt, interrupted };",
    to: "  step.state.caller.turn = { phase: 'speaking', words: newWords(), startedAt, interrupted }; void words;",
  }),
  mutant('answers keys into the words of the caller', 'caller.ts', {
    from: "turn.phase === 'idle' && voice === 'silent';",
    to: "turn.phase === 'idle' || voice === 'speech';",
  }),
  mutant('answers the echo of the bot', 'kind.ts', {
    from: "    state.delivery.echoes = true;\n    return 'echo';",
    to: "    state.delivery.echoes = true;\n    return 'words';",
  }),
  mutant('does not say the rest of what was cut by mistake', 'listening.ts', {
    from: "    startText(step, 'rest', { text: state.delivery.cutOff, owedSince });",
    to: '    void startText;',
  }),
  mutant('apologises for ever to somebody who mumbles', 'listening.ts', {
    from: 'isDeaf || state.caller.wordlessTurns < maxWordlessApologies',
    to: 'isDeaf || state.caller.wordlessTurns < 99 * maxWordlessApologies',
  }),
  mutant('says again what another worker had said', 'resume.ts', {
    from: '  const kept = piecesBefore(pieces, sentMs);',
    to: '  const kept = 0 * piecesBefore(pieces, sentMs);',
  }),
  mutant('forgets the turn that another worker had heard', 'resume.ts', {
    from: '  const words = turnAudio ? turn.words : keptWords(turn.words);',
    to: '  const words = keptWords(newWords());',
  }),
  mutant('forgets the beginning of a long turn that another worker had heard', 'resume.ts', {
    from: "  if (event.turnAudio && 'words' in state.caller.turn) forgetGiven(step, state.caller.turn.words);",
    to: "  if (event.turnAudio && 'words' in state.caller.turn) { state.caller.turn.words.finals.length = 0; state.caller.turn.words.partial = ''; }",
  }),
  mutant('forgets what STT owes', 'hearing.ts', {
    from: 'return owedBy === undefined ? deaf : deaf === undefined ? owedBy : Math.min(owedBy, deaf);',
    to: 'return owedBy === undefined ? deaf : deaf;',
  }),
  mutant('answers a lone full stop', 'kind.ts', {
    from: "  if (words.length === 0) return 'silence';",
    to: "  if (text === '') return 'silence';\n  if (words.length === 0) return 'words';",
  }),

  mutant('waits for a text that nobody makes any more', 'listening.ts', {
    from: "  if (turn.phase === 'finalizing' && stt.owed.length === 0) answerTurn(step, turn);",
    to: '  void stt;\n  void turn;',
  }),
  mutant('holds the bot for its own echo', 'candidate.ts', {
    from: 'held: interruptible(state) && !state.delivery.echoes && !isFaint,',
    to: 'held: true,',
  }),
  mutant('takes a finalize of no audio for a proof that STT lives', 'listening.ts', {
    from: 'if (!isLate && !given.isEmpty) forgetFaults',
    to: 'if (!isLate) forgetFaults',
  }),
  mutant('counts a time limit that STT let pass as its answer', 'listening.ts', {
    from: 'if (!isLate && !given.isEmpty) forgetFaults',
    to: 'if (!given.isEmpty) forgetFaults',
  }),
  mutant('loses the question behind a filler that a noise has cut', 'candidate.ts', {
    from: "(response.phase === 'waiting' || (unfilled(response, 0)",
    to: "(response.phase === 'waiting' && (unfilled(response, 0)",
  }),
];
