/** The core's last resort, broken on purpose: the announcement of a voice that cannot be heard. */
import { and, mutantsOf, never, or, remove, replace, swap, type Mutant } from './mutant.ts';
import { call, condition, inside, operand, property, statement, term, value } from './places.ts';

export const announcementMutants: readonly Mutant[] = mutantsOf({
  'output.ts: speakAgain': {
    'asks a TTS that has just failed for a filler that is not ready': remove(operand('readyLines')),
    'announces although a filler is ready': never(operand('speakForSilence')),
    'loses an announcement with the session that was to play it': remove(operand('wasOnlyAnnounced')),
  },
  'output.ts: onTtsFailed': {
    'cuts an announcement for a session that dies under it': remove(operand('isWholeAnnouncement')),
    'announces for ever what nobody plays': never(condition('stalled')),
  },
  'output.ts: sayLastWords': {
    'ends the call without a word when the farewell fails': replace(
      call('startAnnouncement'),
      "endCall(step, 'ended')",
    ),
    'says the same announcement twice at the end': and(operand('isHeard'), 'former.hangUpAfter'),
  },
  'output.ts: onNoAudio': {
    'leaves out an apology without sound': or(value('isOthers'), "source === 'apology'"),
  },
  'output.ts: spokenBeyondFillers': {
    'takes the announcement for a proof that TTS is alive': or(operand('fillers'), 'piece.recorded === true'),
  },
  'speaking.ts: startLine': { 'asks a TTS that was given up for the farewell': never(operand('readyLines')) },
  'speaking.ts: openResponse': {
    'gives what follows a response without sound the time of a new one': replace(
      call('stillOwedSince'),
      'now',
    ),
  },
  'speaking.ts: completeResponse': {
    'gives the answer behind a line without sound the time of a new one': replace(
      call('stillOwedSince'),
      'now',
    ),
  },
  'speaking.ts: stillOwedSince': {
    'gives up a line that is ready before it can be heard': swap(
      term('audibleWithinMs', 'firstSoundMs'),
      '-',
      '+',
    ),
  },
  'response.ts: speakRecording': { 'has TTS repeat the announcement': remove(call('fillers.push')) },
  'resume.ts: speakPieces': {
    'has TTS speak the announcement for another worker': remove(
      inside(call('actions.push'), property('recorded')),
    ),
  },
  'resume.ts: onCallResumed': { 'counts on lines that another worker had': remove(statement('readyLines')) },
  'turn-ended.ts: answerTurn': {
    'counts the wait of a turn without words from its decision': remove(statement('hasWords', 'false')),
  },
  'silence.ts: longestWait': {
    'leaves a filler that is not ready until it is too late for what stands in for it': remove(
      statement('unreadyAfterMs'),
    ),
  },
});
