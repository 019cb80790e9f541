/** The core's last resort, broken on purpose: the announcement of a voice that cannot be heard. */
import { mutant, type Mutant } from './mutant.ts';

export const announcementMutants: readonly Mutant[] = [
  mutant('asks a TTS that has just failed for a filler that is not ready', 'output.ts', {
    from: 'state.silence.readyLines.fillers && speakForSilence(step, again)',
    to: 'speakForSilence(step, again)',
  }),
  mutant('announces although a filler is ready', 'output.ts', {
    from: 'state.silence.readyLines.fillers && speakForSilence(step, again)',
    to: 'false',
  }),
  mutant('loses an announcement with the session that was to play it', 'output.ts', {
    from: 'if (lost || (fills',
    to: 'if ((fills',
  }),
  mutant('cuts an announcement for a session that dies under it', 'output.ts', {
    from: ' && !isWholeAnnouncement(response)',
    to: '',
  }),
  mutant('announces for ever what nobody plays', 'output.ts', {
    from: "what === 'stalled' && state.faults.lastWords && isAnnounced(response)",
    to: 'false',
  }),
  mutant('ends the call without a word when the farewell fails', 'output.ts', {
    from: "startAnnouncement(step, 'farewell');\n  else startLine(step, 'farewell', { owedSince: step.now });\n}",
    to: "endCall(step, 'ended');\n  else startLine(step, 'farewell', { owedSince: step.now });\n}",
  }),
  mutant('says the same announcement twice at the end', 'output.ts', {
    from: 'if (isHeard && isAnnounced(former))',
    to: 'if (former.hangUpAfter && isHeard && isAnnounced(former))',
  }),
  mutant('asks a TTS that was given up for the farewell', 'speaking.ts', {
    from: "kind === 'farewell' && lastWords && !readyLines.farewell",
    to: "kind === 'farewell' && lastWords && readyLines === undefined",
  }),
  mutant('leaves out an apology without sound', 'output.ts', {
    from: "const isOthers = source === 'line'",
    to: "const isOthers = source === 'apology' || source === 'line'",
  }),
  mutant('gives what follows a response without sound the time of a new one', 'speaking.ts', {
    from: 'options.owedSince ?? stillOwedSince(step);',
    to: 'options.owedSince ?? now;',
  }),
  mutant('gives the answer behind a line without sound the time of a new one', 'speaking.ts', {
    from: 'else answerOwed(step, stillOwedSince(step));',
    to: 'else answerOwed(step, now);',
  }),
  mutant('has TTS repeat the announcement', 'response.ts', {
    from: '  response.fillers.push({ from, to: endChars });',
    to: '',
  }),
  mutant('has TTS speak the announcement for another worker', 'resume.ts', {
    from: 'text: said, ...(recorded && { recorded })',
    to: 'text: said',
  }),
  mutant('counts on lines that another worker had', 'resume.ts', {
    from: '  state.silence.readyLines = { fillers: false, farewell: false };\n',
    to: '',
  }),
  mutant('takes the announcement for a proof that TTS is alive', 'output.ts', {
    from: '!fillers.some(({ to }) => to === piece.endChars)',
    to: '(piece.recorded === true || !fillers.some(({ to }) => to === piece.endChars))',
  }),
  mutant('counts the wait of a turn without words from its decision', 'listening.ts', {
    from: '  state.caller.clock = { ...clock, hasWords: false };\n',
    to: '',
  }),
  mutant('leaves a filler that is not ready until it is too late for what stands in for it', 'silence.ts', {
    from: '  if (!state.silence.readyLines.fillers) return limits.unreadyAfterMs;\n',
    to: '',
  }),
  mutant('gives up a line that is ready before it can be heard', 'speaking.ts', {
    from: 'now - (audibleWithinMs - firstSoundMs)',
    to: 'now - audibleWithinMs - firstSoundMs',
  }),
];
