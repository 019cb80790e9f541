/**
 * What the engine knows of one language: the words by which it understands a caller, and the lines that an agent says when its file gives
 * none. Every list is required, so that a new language is one file in which nothing was forgotten. Words are in lower case, as STT writes
 * them. In backchannels, goodbyes and urgent words accents, hyphens and apostrophes make no difference.
 */

/** What an agent says when the agent file does not say it. Nothing here is a prompt, and no text holds a word of the caller. */
export interface Lines {
  /** Spoken while a tool takes long, one after another. */
  readonly fillers: readonly string[];
  /** Spoken when an answer could not be made. */
  readonly apology: string;
  /** Spoken to a caller of whose words STT has told none. */
  readonly misheard: string;
  readonly farewell: string;
  /** Said when an answer that was tried again could not be made either, and in front of the one that could. */
  readonly hold: string;
  readonly back: string;
  /** The user note that asks the LLM for an answer of which the caller heard nothing. */
  readonly unheardNote: string;
  /** What the recording says that ships for the language; empty: none does, and callers hear a signal without words. */
  readonly announcement: string;
  /** Asked when nobody has spoken for a while. */
  readonly idleQuestion: string;
  /** Asked before a tool that needs the caller's word is run. */
  readonly confirmQuestion: string;
  /** The user note of a completed entry of keys, with `{digits}` (docs/reference/agent-file.md, `[telephony.dtmf]`). */
  readonly keysNote: string;
  /** Spoken to a caller whom nobody took over. */
  readonly returnLine: string;
  /** Spoken when an operator who had taken the call over is gone. */
  readonly operatorLost: string;
}

/**
 * What nods are made of that no list of phrases holds: "oh that's good to know". All words must be known, and a request, a number or a name
 * is none. Words of refusal stand only in phrases, because "not good" is a complaint.
 */
export interface NodWords {
  /** Words that a nod says something with: praise, assent, understanding, surprise. */
  readonly core: readonly string[];
  /** The endings of its adjectives: "schönes" is "schön" as well. Undefined where it has none. */
  readonly inflection: RegExp | undefined;
  /** Words that stand among them, and are no nod alone. */
  readonly light: readonly string[];
  /** Question words that exclaim where a word of the core follows: "how nice of you". */
  readonly exclaiming: readonly string[];
  /** Verbs among the light words that make a question where they stand first: "is it good". */
  readonly inverting: readonly string[];
  /** Nods that may have the mark of a question: "really?" */
  readonly wondering: readonly string[];
  /** Nods that hold other words: "I didn't know that". */
  readonly phrases: readonly string[];
  /**
   * Nods with a place for words that no list holds, which `telling` leaves out: "what a *" for any word, "*issimo" for the rest of one,
   * "wow …" for one to three words.
   */
  readonly shapes: readonly string[];
  /** Words that never fill such a place, because they ask, refuse or complain: "how much", "that's wrong"; with "*" as well. */
  readonly telling: readonly string[];
}

/**
 * Requests for time that no list of phrases holds are made of these words: "just two seconds", "hang on, I need to find my card". Words are
 * compared as they sound.
 */
export interface WaitingWords {
  /** Short times, and what else one waits with: "second", "patience". */
  readonly moments: readonly string[];
  /** Words that make a request of one of them, with nothing else in it. */
  readonly granting: readonly string[];
  /** How the caller begins to say what they are about to do: "let me", "I have to". Empty where verbs tell it. */
  readonly own: readonly string[];
  /** Verbs of looking something up, and of getting something. */
  readonly looks: readonly string[];
  readonly takes: readonly string[];
  /** Callers get these things or look into them during a call, or ask these people: "card", "letter", "wife". */
  readonly things: readonly string[];
  /** These words may stand around verb and thing, and are neither. */
  readonly after: readonly string[];
}

/** Numbers, spelled words and addresses that are said piece by piece. Patterns are sources of regular expressions. */
export interface NumberWords {
  /** Pattern: the agent asks for what is told digit by digit or letter by letter. */
  readonly asked: string;
  /** Pattern: the agent asks to have a word spelled. */
  readonly spelled: string;
  /** Pattern: what stands behind the number of digits that the agent asks for. */
  readonly counted: string;
  /** From zero to thirty; several spellings of one number have a slash between them. */
  readonly values: readonly string[];
  /** Other words for a single digit. */
  readonly digits: readonly string[];
  /** From forty on, and what else says a number of two digits with what follows, or without it. */
  readonly tens: readonly string[];
  /** Single words that say two digits: "vierunddreißig". Empty where such numbers are several words. */
  readonly pairs: readonly string[];
  /** "Double seven", "triple seven". */
  readonly double: readonly string[];
  readonly triple: readonly string[];
  /** Between digits they mean nothing. */
  readonly between: readonly string[];
  /** Pattern: the agent asks for an address for mail. */
  readonly mailAsked: string;
  /** What stands between the parts of such an address, and what stands before its host. */
  readonly joints: readonly string[];
  readonly ats: readonly string[];
}

/** How the language writes sentences: where a piece of the agent's text may end. */
export interface SentenceWords {
  /** What ends in a full stop and goes on, without the stop. Single letters and initials are told in any language. */
  readonly abbreviations: readonly string[];
  /** Those that a sentence may end with: it does where an opener follows. */
  readonly lastAbbreviations: readonly string[];
  /** Words that begin a sentence. */
  readonly openers: readonly string[];
  /** Words that nobody pauses behind: articles, conjunctions, prepositions, pronouns and auxiliary verbs. */
  readonly leadsOn: readonly string[];
  /** Words before a number whose full stop makes it an ordinal: "am 3. Mai". Empty where ordinals are written otherwise. */
  readonly beforeOrdinal: readonly string[];
  /** Beginnings of words in upper case that follow such a number: months. */
  readonly afterOrdinal: readonly string[];
}

/** How callers name one way of calling something off: they refuse with such words, unless the tool that is asked about does just that. */
export interface UndoingWords {
  /** What the tool's name holds; English is the language of most names. */
  readonly tool: RegExp;
  /** An answer with a yes beside it, or with the thing that the tool's name tells. */
  readonly said: readonly string[];
  /** Enough alone: "cancel it". "Cancel that" may as well mean the question. */
  readonly clear: readonly string[];
}

/**
 * How callers answer a question that asks for a yes. Accents count here ("si" is "if"), so both spellings stand where STT writes both;
 * apostrophes do not.
 */
export interface AnswerWords {
  /** Whole answers or first words that mean yes, and any words that mean no. */
  readonly yes: readonly string[];
  readonly no: readonly string[];
  /** Yes beyond doubt, so that a short order may follow: "yes, book it". */
  readonly firmYes: readonly string[];
  /** How such an order begins in the language, or ends; its words have a blank between them. */
  readonly order: RegExp;
  /** The end of a verb that tells what somebody does, did or will do, and orders nothing; absent where endings do not say it. */
  readonly told: RegExp | undefined;
  /** Agrees as a whole phrase, whatever its single words mean elsewhere. */
  readonly accepts: readonly string[];
  /** Agrees where nothing follows but thanks: what is wished may as well be something else. */
  readonly wishes: readonly string[];
  /** Thanks, and words to begin with or to address somebody. */
  readonly courtesies: readonly string[];
  /** Neither here nor there, as long as nothing else is said with them. */
  readonly light: readonly string[];
  /** With more to say behind them, somebody tells something and orders nothing: "yeah, I know". */
  readonly tellers: readonly string[];
  /** Behind these comes a detail or another thing, and no order: "yes, the blue table", "yes, to Berlin". */
  readonly openers: readonly string[];
  /** Turns a yes into a question, a condition or another wish. */
  readonly hedges: readonly string[];
  /** Says when, or how many: what was asked about may have said something else. */
  readonly details: readonly string[];
  /** Holds a word of no and does not mean it. */
  readonly noRefusal: readonly string[];
  readonly undoing: readonly UndoingWords[];
}

export interface Language {
  /** The primary subtag of its BCP 47 tags. */
  readonly code: string;
  /** As the documentation names it. */
  readonly name: string;
  readonly lines: Lines;
  /** Backchannels: what callers say to show that they follow. Sounds ("mm-hmm") are told in any language, and stand in none. */
  readonly backchannels: readonly string[];
  /** What makes a nod of words that are no backchannel of the list. */
  readonly nods: NodWords;
  /** What callers return a farewell with. */
  readonly goodbyes: readonly string[];
  /** Words that call for a stop and never wait for what may follow: "no", "wait", question words. */
  readonly urgent: readonly string[];
  /** Last words after which a speaker goes on: filling sounds, conjunctions, articles, prepositions. */
  readonly hesitations: readonly string[];
  /** Last words that end a sentence as often as they lead on: "book that", "I think that". */
  readonly doubtful: readonly string[];
  /** The end of a last word after which a speaker goes on; absent where endings do not say it. */
  readonly leadingEnd: RegExp | undefined;
  /** Several last words after which a speaker goes on: "can you". */
  readonly begun: readonly string[];
  /**
   * What begins something and is no answer: "well", "my name is". Where nothing else was said, more is to be expected even behind the full
   * stop that STT puts. Words that can be an answer ("this one", "I am") do not stand here.
   */
  readonly openings: readonly string[];
  /** Questions that end behind their question word: "and until when". Question words that begin one as often do not stand here. */
  readonly shortQuestions: readonly string[];
  /** Phrases that ask for time to think or to look something up: "let me see". They are no turn to answer yet. */
  readonly thinking: readonly string[];
  readonly askingForTime: WaitingWords;
  /** First words of a correction, which seldom comes alone: "no sorry, five people ... on Friday". */
  readonly corrections: readonly string[];
  /** The model of whole sentences (`completeness-weights.ts`) has learned the language. */
  readonly isLearned: boolean;
  readonly numbers: NumberWords;
  readonly sentences: SentenceWords;
  readonly answers: AnswerWords;
}
