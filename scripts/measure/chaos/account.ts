/**
 * What one caller heard and said, kept by itself, and whether the service's own account of it, the context of its requests to
 * the model, agrees. Pure; knows nothing of faults.
 */
import { groupMs, groupsPerWord, wordsIn, type HeardGroup } from './coded-audio.ts';

/** A part of two frames may be lost or padded where one worker stops and another goes on. */
export const seamMs = 40;

/** Stands behind the context of a request whose answer is tried again, and in no later one. */
const askedAgainNote = '[The caller has not heard your answer. Give it now.]';

/** Stands behind the beginning of an answer whose worker died. */
const cutOffNote = 'Your last message was cut off.';

export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}

/** The words from which the model is to go on. Somebody says them now, until the caller says something. */
function beingSaidIn(messages: readonly ChatMessage[]): ChatMessage | undefined {
  const note = messages.findLastIndex(({ content }) => content.startsWith(cutOffNote));
  if (note < 0 || messages.slice(note).some(({ role }) => role === 'user')) return undefined;
  return messages.slice(0, note).findLast(({ role }) => role === 'assistant');
}

export class Account {
  readonly call: number;
  /** Broken promises, in words; a few of each. */
  readonly violations: string[] = [];
  /** Sound that came again, and sound that was left out within a reply. */
  doubledMs = 0;
  lostMs = 0;
  /** Words that came again as a whole, or were left out as a whole. */
  wordsDoubled = 0;
  wordsLost = 0;
  #reply = 0;
  #nextAt = 0;
  /** Groups in a row that came again. */
  #run = 0;
  /** Words of each reply that were received at least in part. */
  readonly #received = new Map<number, number>();
  readonly #entries: string[] = [];
  #context: readonly ChatMessage[] = [];
  #epoch = -1;
  /** Replies up to this one may have come while nothing was read, or softly. */
  #lateReplies = 0;
  #isReading = true;
  readonly #slackWords: number;

  /** `slackWords`: by so many words what was heard may be told wrong, where nobody says when each was spoken. */
  constructor(call: number, slackWords = 0) {
    this.call = call;
    this.#slackWords = slackWords;
  }

  get reply(): number {
    return this.#reply;
  }

  /** Groups of the present reply heard so far, wherever they ended. */
  get heardGroups(): number {
    return this.#nextAt;
  }

  keysSent(entry: string): void {
    this.#entries.push(entry);
  }

  heard(group: HeardGroup): void {
    if (group.call === 0) return;
    if (group.call !== this.call) {
      this.#complain(`heard a word of call ${group.call}`);
      return;
    }
    if (group.reply < this.#reply) {
      this.#complain(`heard reply ${group.reply} after reply ${this.#reply}`);
      return;
    }
    if (group.reply > this.#reply) {
      this.#reply = group.reply;
      this.#nextAt = 0;
    }
    const jump = group.at - this.#nextAt;
    if (jump > 0) {
      this.lostMs += jump * groupMs;
      this.wordsLost += Math.floor(jump / groupsPerWord);
    } else if (jump < 0) {
      this.doubledMs += groupMs;
      this.#run += 1;
      if (this.#run % groupsPerWord === 0) this.wordsDoubled += 1;
    }
    if (jump >= 0) this.#run = 0;
    this.#nextAt = Math.max(this.#nextAt, group.at + 1);
    this.#received.set(group.reply, Math.ceil(this.#nextAt / groupsPerWord));
  }

  /** A caller that reads nothing has not heard what the service rightly takes for played. */
  setReading(reading: boolean): void {
    this.#isReading = reading;
    if (reading) this.#lateReplies = this.#reply + 2;
  }

  /** The agent goes on softly under the caller's voice, and what it says cannot be made out. */
  softened(): void {
    this.#lateReplies = Math.max(this.#lateReplies, this.#reply + 1);
  }

  cleared(epoch: number): void {
    if (epoch <= this.#epoch) this.#complain(`epoch ${epoch} after ${this.#epoch}`);
    this.#epoch = epoch;
  }

  /**
   * The service asks the model with this context on behalf of this call. `isHeld`: a model that speaks by itself holds it, in messages that may
   * be divided otherwise.
   */
  asked(messages: readonly ChatMessage[], { isHeld = false } = {}): void {
    const said = messages.filter(({ role, content }) => role !== 'system' && content !== askedAgainNote);
    if (!isHeld) {
      this.#compareWithEarlier(said);
      this.#context = said;
    }
    this.#judgeEntries(said);
    this.#judgeWords(said, beingSaidIn(messages));
  }

  /** What the model has seen stays as it was; only more comes behind it, in the last message as well. */
  #compareWithEarlier(said: readonly ChatMessage[]): void {
    const last = this.#context.length - 1;
    const differs = this.#context.findIndex(({ role, content }, at) => {
      const now = said[at]?.role === role ? said[at].content : '';
      return at === last ? !now.startsWith(content) : now !== content;
    });
    if (differs >= 0) this.#complain(`message ${differs} of the context changed or is gone`);
  }

  #judgeEntries(said: readonly ChatMessage[]): void {
    const entries = said
      .filter(({ role }) => role === 'user')
      .flatMap(({ content }) => [...content.matchAll(/keys: ([\d*]+)/g)].map((found) => found[1] ?? ''));
    let next = 0;
    for (const entry of entries) {
      const found = this.#entries.indexOf(entry, next);
      if (found < 0) this.#complain(`keys ${entry} are in the context twice, out of order, or were not sent`);
      else next = found + 1;
    }
  }

  #judgeWords(said: readonly ChatMessage[], beingSaid: ChatMessage | undefined): void {
    const words = said
      .filter(({ role }) => role === 'assistant')
      .flatMap((one) => wordsIn(one.content).map((word) => ({ ...word, isLate: one === beingSaid })));
    let reply = -1;
    let next = 0;
    for (const word of words) {
      if (word.call !== this.call) this.#complain(`a word of call ${word.call} is in the context`);
      if (word.reply < reply)
        this.#complain(`reply ${word.reply} stands behind reply ${reply} in the context`);
      if (word.reply !== reply) next = 0;
      if (word.word !== next)
        this.#complain(`word ${word.word} of reply ${word.reply} in the context, not ${next}`);
      const isLate = word.isLate || !this.#isReading || word.reply <= this.#lateReplies;
      const received = (this.#received.get(word.reply) ?? 0) + this.#slackWords;
      if (!isLate && word.word >= received)
        this.#complain(`word ${word.word} of reply ${word.reply} is in the context and was not heard`);
      reply = word.reply;
      next = word.word + 1;
    }
  }

  #complain(what: string): void {
    if (this.violations.length < 5) this.violations.push(`call ${this.call}: ${what}`);
  }
}
