/**
 * What a session of a speaking model holds of the conversation, and what it lacks. The history of the call is the truth, and the session a cache
 * of it: before each answer the two are compared, and the steps are told that make the session right. Pure.
 *
 * Messages of the history stay the same objects for as long as they are in it, so that what was sent is known by identity. Words and calls of
 * the model in the session itself enter the history as they were heard, and are known by their text and by the names of the calls.
 */
import { unwritten } from '../../core/unwritten.ts';
import type { ChatMessage, LlmRequest } from '../stage.ts';
import type { RealtimeCaps } from './contract.ts';

/** A step towards the session that holds what the history says. */
export type SyncStep =
  /** The caller's turn is in the session once its audio is committed. */
  | { readonly type: 'commit' }
  | { readonly type: 'append'; readonly messages: readonly ChatMessage[] }
  /** Of this item so much of its text was heard; 0: nothing. */
  | { readonly type: 'cut'; readonly item: string; readonly chars: number };

export interface SyncPlan {
  readonly steps: readonly SyncStep[];
  /** Something is gone from the history, or has changed in it: only a new session can hold that. */
  readonly rebuild: boolean;
}

/** How a vendor can forget. */
type Forgetting = Pick<RealtimeCaps, 'truncates' | 'removes'>;

/** One stretch of words of an answer, as the vendor told it. */
interface SpokenItem {
  readonly item: string;
  text: string;
}

interface SpokenAnswer {
  readonly items: SpokenItem[];
  /** Calls of tools that it made beside its words. */
  readonly calls: Set<string>;
  /** All of it was told; otherwise the vendor may have made more. */
  isWhole: boolean;
  /** Letters of what the session was told that was said before it, in the message that has its calls. */
  before: string;
}

/** Enough letters to know an answer by. */
const tellingChars = 12;
/** An answer calls tools in few rounds. */
const mostCalling = 16;

export class SessionConversation {
  /** What the session was sent, oldest first; those at its head may have left the request, which is bounded. */
  #order: ChatMessage[] = [];
  #sent = new WeakSet<ChatMessage>();
  /** Answers of the model of which the history has not told yet what was heard. */
  #answers: SpokenAnswer[] = [];
  #calls = new Set<string>();
  #results = new Set<string>();
  #caps: Forgetting = { truncates: true, removes: true };
  /** Messages whose words have come, which stand in the history as new ones. */
  #written = 0;
  /** What a running answer had said, as the newest request told it, and the history does not: it has what was heard in its place, or will. */
  #passed: AgentMessage[] = [];
  /** Answers that called tools: what was heard of them is known for good when the whole is over. */
  #calling: SpokenAnswer[] = [];
  /** Notes of which the session has no sound either. */
  #unheard: ReadonlySet<ChatMessage> = new Set();

  /** The session was opened with these messages. `unwritten`: those of them whose words nobody knew then. */
  seeded(messages: readonly ChatMessage[], unwritten: readonly ChatMessage[] = []): void {
    this.#order = [...messages];
    this.#written = 0;
    this.#unheard = new Set(unwritten);
    this.#sent = new WeakSet(messages);
    this.settled();
    this.#calls = new Set(messages.flatMap(callsOf));
    this.#results = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.callId] : [])));
  }

  /** The session heard this one, which its seed left out. */
  heard(message: ChatMessage): void {
    this.#sent.add(message);
    this.#order.push(message);
  }

  /** No session is there that could be told what was heard of answers: the history has it. */
  settled(): void {
    this.#answers = [];
    this.#calling = [];
  }

  answerBegan(): void {
    this.#answers.push({ items: [], calls: new Set(), isWhole: false, before: '' });
  }

  /** The answer that began last has come to its end. */
  answerEnded(): void {
    const answer = this.#answers.at(-1);
    if (answer !== undefined) answer.isWhole = true;
  }

  /** The model said more words in the answer that began last. */
  said(item: string, text: string): void {
    const answer = this.#answers.at(-1);
    const last = answer?.items.at(-1);
    if (last?.item === item) last.text += text;
    else answer?.items.push({ item, text });
  }

  called(id: string): void {
    this.#calls.add(id);
    this.#answers.at(-1)?.calls.add(id);
  }

  /** The model does not wait for the result of this call any more. */
  callCancelled(id: string): void {
    this.#calls.delete(id);
  }

  /**
   * Compares; the session holds what the request says once the steps are done. `hasAudio`: the newest words of the caller are there as sound.
   * What was not heard is taken back as the vendor can.
   */
  plan(
    { messages }: LlmRequest,
    { hasAudio, caps }: { readonly hasAudio: boolean; readonly caps: Forgetting },
  ): SyncPlan {
    this.#caps = caps;
    const history = messages[0]?.role === 'system' ? messages.slice(1) : [...messages];
    if (this.#hasLost(history) || this.#tookBack(history)) return { steps: [], rebuild: true };
    const steps: SyncStep[] = [];
    const spoken = hasAudio ? history.findLast(({ role }) => role === 'user') : undefined;
    for (const message of history) {
      if (this.#sent.has(message)) continue;
      this.#sent.add(message);
      this.#order.push(message);
      if (message === spoken) steps.push({ type: 'commit' });
      else if (message.role === 'user' && this.#written > 0) this.#written -= 1;
      else steps.push(...this.#stepsFor(message));
    }
    // Of an answer that stands nowhere in the history nothing was heard.
    for (const answer of this.#answers.splice(0)) steps.push(...this.#cut(answer, ''));
    return { steps: merged(steps), rebuild: false };
  }

  /** Results and notes of a running answer are made anew for each request, so that only what never was one of these can be missed. */
  #hasLost(history: readonly ChatMessage[]): boolean {
    const now = new Set(history);
    const isGone = (message: ChatMessage): boolean => !now.has(message) && message.role === 'user';
    // Words that came later stand in the place of the note about them, and the session has heard them, unless it was opened with the note.
    const isNote = ({ text }: ChatMessage): boolean => text.includes(unwritten);
    if ([...this.#unheard].some(isGone)) return true;
    this.#written = this.#order.filter((message) => isGone(message) && isNote(message)).length;
    const first = this.#order.findIndex((message) => now.has(message));
    const held = first < 0 ? [] : this.#order.slice(first);
    this.#order = held.filter((message) => now.has(message));
    this.#passed = held.filter(isAgents).filter((message) => !now.has(message));
    return held.some((message) => isGone(message) && !isNote(message));
  }

  /** Not all was heard in the end of an answer that the session was told. An answer of its own can be cut where it stands. */
  #tookBack(history: readonly ChatMessage[]): boolean {
    const fresh = history.filter(isAgents).filter((message) => !this.#sent.has(message));
    const { truncates, removes } = this.#caps;
    const replaces = removes && !truncates;
    return this.#passed.some((passed) => {
      const own = replaces ? undefined : this.#callingOf(passed);
      const heard = fresh.find((message) => isFollowedBy(passed, message));
      return !lettersOf(heard?.text ?? '').startsWith(own?.before ?? lettersOf(passed.text));
    });
  }

  #callingOf(message: AgentMessage): SpokenAnswer | undefined {
    return this.#calling.find(({ calls }) => callsOf(message).some((id) => calls.has(id)));
  }

  #stepsFor(message: ChatMessage): SyncStep[] {
    switch (message.role) {
      case 'user':
      case 'system':
        return [{ type: 'append', messages: [message] }];
      case 'tool':
        return this.#stepsForResult(message);
      case 'assistant':
        return this.#stepsForAssistant(message);
    }
  }

  #stepsForResult(message: Extract<ChatMessage, { role: 'tool' }>): SyncStep[] {
    if (this.#results.has(message.callId)) return [];
    this.#results.add(message.callId);
    const isAsked = this.#calls.has(message.callId);
    return [{ type: 'append', messages: [isAsked ? message : noteOfResult(message)] }];
  }

  #stepsForAssistant(message: AgentMessage): SyncStep[] {
    const calls = callsOf(message);
    const calling = this.#callingOf(message);
    if (calling !== undefined) return this.#cut(calling, behind(message.text, calling.before));
    // The session was told this part of the answer already, for the model to go on behind it.
    const passed = this.#passed.find((one) => isFollowedBy(one, message));
    const told = lettersOf(passed?.text ?? '');
    const text = behind(message.text, told);
    if (calls.some((id) => this.#calls.has(id))) return this.#settleCalls(text, { calls, told });
    if (lettersOf(text) === '') return [];
    const index = this.#answers.findIndex((answer) => placeOf(textOf(answer), text) >= 0);
    const answer = this.#answers[index];
    if (answer === undefined) return said(text);
    this.#answers.splice(index, 1);
    const at = placeOf(textOf(answer), text);
    return [...this.#cut(answer, text.slice(at)), ...said(text.slice(0, at))];
  }

  /** The model made these calls itself; of what it said beside them, so much was heard. */
  #settleCalls(
    heard: string,
    { calls, told }: { readonly calls: readonly string[]; readonly told: string },
  ): SyncStep[] {
    const index = this.#answers.findIndex((answer) => calls.some((id) => answer.calls.has(id)));
    const [answer] = index < 0 ? [] : this.#answers.splice(index, 1);
    if (answer === undefined) return [];
    answer.before = told;
    this.#calling.push(answer);
    if (this.#calling.length > mostCalling) this.#calling.shift();
    return this.#cut(answer, heard);
  }

  /** Takes back what was not heard of an answer. */
  #cut(answer: SpokenAnswer, heard: string): SyncStep[] {
    const whole = lettersOf(textOf(answer)).length;
    let left = lettersOf(heard).length;
    const { truncates, removes } = this.#caps;
    if (whole > 0 && left >= whole && (answer.isWhole || truncates)) return [];
    if (whole > 0 && !truncates) {
      const gone = answer.items.map(({ item }) => ({ type: 'cut', item, chars: 0 }) as const);
      return removes ? [...gone, ...said(heard)] : [noteOfHeard(heard)];
    }
    const steps: SyncStep[] = [];
    for (const { item, text } of answer.items) {
      const letters = lettersOf(text).length;
      const share = letters === 0 ? 0 : left / letters;
      if (share < 1) steps.push({ type: 'cut', item, chars: Math.floor(share * text.length) });
      left = Math.max(0, left - letters);
    }
    return truncates ? steps : [];
  }
}

type AgentMessage = Extract<ChatMessage, { role: 'assistant' }>;

const isAgents = (message: ChatMessage): message is AgentMessage => message.role === 'assistant';

/** `message` tells of the answer that `passed` told the beginning of: up to the same calls of tools, or with more words. */
function isFollowedBy(passed: AgentMessage, message: AgentMessage): boolean {
  const calls = callsOf(passed);
  if (calls.length > 0) return callsOf(message).some((id) => calls.includes(id));
  return lettersOf(message.text).startsWith(lettersOf(passed.text));
}

const callsOf = (message: ChatMessage): string[] =>
  message.role === 'assistant' ? (message.toolCalls ?? []).map(({ id }) => id) : [];

const said = (text: string): SyncStep[] =>
  text.trim() === '' ? [] : [{ type: 'append', messages: [{ role: 'assistant', text: text.trim() }] }];

const textOf = ({ items }: SpokenAnswer): string =>
  items
    .map(({ text }) => text)
    .join(' ')
    .trim();

/** Letters and digits alone: marks and spaces are what a text loses on its way to the caller. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** What of a text stands behind these letters; all of it where it does not begin with them. */
function behind(text: string, letters: string): string {
  if (letters === '' || !lettersOf(text).startsWith(letters)) return text;
  let at = 0;
  let left = letters.length;
  for (const symbol of text) {
    if (left <= 0) break;
    left -= lettersOf(symbol).length;
    at += symbol.length;
  }
  return text.slice(at);
}

/** Where in what was heard the words of the answer begin; less than zero where they do not. */
function placeOf(answer: string, heard: string): number {
  const letters = lettersOf(answer);
  const telling = letters.slice(0, tellingChars);
  if (telling === '') return -1;
  if (letters.startsWith(lettersOf(heard))) return 0;
  for (const { index } of heard.matchAll(/\S+/g)) {
    const rest = lettersOf(heard.slice(index));
    if (rest.startsWith(telling) || (rest !== '' && letters.startsWith(rest))) return index;
  }
  return -1;
}

/** What a model is told that cannot forget what it said. */
const noteOfHeard = (heard: string): SyncStep => ({
  type: 'append',
  messages: [
    {
      role: 'system',
      text:
        heard.trim() === ''
          ? 'The caller heard nothing of your last answer.'
          : `Of your last answer the caller heard only: ${heard.trim()}`,
    },
  ],
});

const noteOfResult = ({ name, text }: { readonly name: string; readonly text: string }): ChatMessage => ({
  role: 'system',
  text: `An earlier call of ${name} gave: ${text}`,
});

/** Messages that follow one another go together. */
function merged(steps: readonly SyncStep[]): SyncStep[] {
  const result: SyncStep[] = [];
  for (const step of steps) {
    const last = result.at(-1);
    if (step.type === 'append' && last?.type === 'append')
      result.splice(-1, 1, { type: 'append', messages: [...last.messages, ...step.messages] });
    else result.push(step);
  }
  return result;
}
