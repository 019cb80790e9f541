/**
 * Every threshold of the caller's level, in one place. `Db` are decibels, `Ms` milliseconds of audio, `Frames` frames of 32 ms. Of somebody who
 * speaks steadily, the level of a tenth of a second lies within -9 and +6.5 dB of the mean in 96 of 100 cases, and that of half a second
 * within -5 and +4.5 dB (22 recordings).
 */
export const levelThresholds = {
  fastFrames: 4,
  voiceFrames: 16,
  /** About three seconds of voice. */
  callerFrames: 96,
  /** VAD is so sure of what teaches the caller's level. */
  clearly: 0.8,
  /** After so many the level is known without words. */
  knownFrames: 16,
  /** Until it is, a voice that is softer proves nothing by itself. */
  doubtfulDb: -28,
  /** And one over the agent is somebody else's: no telephone makes a caller as soft. */
  remoteDb: -45,
  /** A voice that is so much louder than the caller was is the caller's: after so many frames where words agree or none were heard before, else after so many. */
  louderDb: 9,
  louderFrames: 8,
  unprovenLouderFrames: 48,
  /** How much softer than the caller a voice may begin: over the agent, where nobody else was heard, and at most where somebody was. */
  overAgentDb: 6,
  aloneDb: 14,
  mostBelowDb: 12,
  /** As loud as the caller is what is at most so much softer; over the agent no voice is the caller's whose last half second is not. */
  loudDb: 8,
  /** Words are those of a soft voice where there was none as loud as the caller for so long. */
  softAloneMs: 1_000,
  /** What has begun may become softer by so much. */
  softerDb: 3,
  /** Somebody else was heard for so long, and no longer ago. */
  otherMs: 500,
  otherWithinMs: 5_000,
  /** As loud as somebody else is what is at most so much louder. */
  otherDb: 6,
  /** A soft voice that lasts for so long is the caller's, behind silence and behind the caller's voice, and without words is not after so long. */
  recoveredMs: 200,
  recoveredInVoiceMs: 600,
  unprovenMs: 4_000,
  /** A voice ends with so much silence. */
  gapMs: 500,
  /** What STT tells was spoken at most so long before. */
  wordsWithinMs: 2_000,
} as const;
