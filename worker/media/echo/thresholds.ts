/**
 * Every threshold by which this room decides, in one table; where each comes from stands in docs/measurements/echo.md and interruptions.md, which a
 * test compares with this one. Mere sizes of windows and steps stand where they are used.
 *
 * Shares are of energy; `Db` are decibels, `Ms` milliseconds; probabilities are VAD's.
 */
export const echoThresholds = {
  // ---- waveforms (detector.ts): how much of what is heard must be explained by what was sent ----

  /** At a new delay of up to a second that loudness allows, and where the search before found the same. */
  likelyShare: 0.64,
  againShare: 0.58,
  /** At other new delays, found twice; and near to the delay of an echo of a moment ago. */
  newShare: 0.85,
  movedShare: 0.65,
  /** Of a beginning of so few samples that matter, as many weights as are fitted explain much by chance. */
  fewSamplesShare: 0.8,
  /** At the known delay this part of the usual share: a room that echoes for long is explained less. */
  knownPart: 0.6,
  leastShare: 0.25,
  /** What is left over is at most so many times what is usually left, or a caller who is softer than the echo would be hidden. */
  mostRest: 3,
  /** More than this is not asked for. */
  enoughShare: 0.9,
  /** An echo that is usually explained better is a clear one; below it a smaller part is enough where it is no louder than the echo was. */
  clearShare: 0.85,
  softPart: 0.2,
  mostExcessDb: 2,
  /** The newest half of a look alone: at the known delay, and at one of some later ones. */
  leastNewest: 0.75,
  leastMoved: 0.85,
  /** Mean square of what was sent, below which there is nothing that could come back. */
  leastPlayed: 1,

  // ---- spectra (detector.ts): correlations ----

  /** Of an echo that is not known yet; found twice; and its newest part, also when it was only enough because it was found twice. */
  newLikeness: 0.62,
  newLikenessAgain: 0.55,
  newNewest: 0.4,
  newestAgain: 0.5,
  /** Of a known one; `early`: while too little was heard to tell how loud it is. */
  knownLikeness: 0.52,
  knownLikenessAgain: 0.48,
  knownNewest: 0.4,
  earlyNewest: 0.6,
  /** Of a clear one at its own delay: its waveform would have told. */
  clearLikeness: 0.66,
  clearNewest: 0.74,
  /** How much louder than before it may be; and a clear one. */
  alikeExcessDb: 4.5,
  clearExcessDb: 1.5,
  /** What is less alike will be no more alike for a moment. */
  plainlyUnlike: 0.3,
  /** So much of the energy may have been heard before the echo can have come; and of one that was found twice. */
  mostStray: 0.25,
  strayAgain: 0.05,

  // ---- loudness (history.ts) ----

  /** Closer than the first an echo follows what was sent; two voices differ by more than the second, or are louder now by the third. */
  closeDb: 4.5,
  looseDb: 6,
  looseExcessDb: 3.5,
  /** Mean square of what any microphone would tell from silence. */
  audible: 160,
  /** An echo was missing where less than this share of it was heard; so few missing ones are chance, and no more than this share. */
  presentShare: 0.16,
  fewMissing: 2,
  mostMissing: 0.4,
  leastOfLoudest: 0.03,
} as const;

/** The same for a voice that is surely one (voice-proof.ts). docs/measurements/interruptions.md says where they come from. */
export const proofThresholds = {
  /** VAD must be sure of this much of the voice. */
  sureVoiceMs: 64,
  /** Below this probability what VAD was sure of is over. */
  overBelow: 0.3,
  /** One frame of the sound repeats itself so closely, or a hiss came first: clatter and coughs do neither, however sure VAD is of them. */
  voicedFrom: 0.65,
  /** Where VAD is this sure, a frame of voice or a hiss right before it was the beginning of the same syllable. */
  plainProbability: 0.95,
  consonantMs: 64,
  /** The same between two frames, of which less is known. */
  plainBetween: 0.97,
  /** After a hiss for so long, the beginning of "six", this is sure enough for both. */
  longHissMs: 96,
  afterHiss: 0.85,
  /** What has had the pitch of a voice for so long without a break is one where VAD takes it for one at all: it is late for muffled voices. */
  pitchedFrom: 0.7,
  pitchedMs: 96,
  pitchedProbability: 0.6,
  /** Bright part of a hum at most, and of a hiss at least, in dB of the whole. */
  humDb: -24,
  hissDb: -8,
  /** Once somebody hums, what is this much quieter is the breath between two hums. */
  breathDb: 6,
  humsAfterMs: 64,
  /** A sound that has gone on for longer without a proof is not the beginning of a voice. */
  longestUnprovedMs: 600,
  /** Sound is what is this much louder than the background, and not quieter than the other, in dB below full scale. */
  overBackgroundDb: 8,
  quietestSoundDb: -50,
  /** Over less than this, the background makes a voice look as if it had no pitch. */
  clearDb: 20,
  /** What is quieter is too quiet to tell a hum from a word. */
  quietestTellingDb: -60,
  /** A hole up to this long inside a sound belongs to it. */
  longestHoleMs: 32,
} as const;
