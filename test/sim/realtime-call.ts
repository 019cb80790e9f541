/**
 * A call of a model that hears and speaks, and a vendor that keeps the conversation that a session was told: at each question that must be what
 * was said and heard, in the words of the history.
 */
import { vocabularyOf } from '../../shared/languages/vocabulary.ts';
import { expect } from 'vitest';
import { newPrng, type Prng } from '../../shared/base/prng.ts';
import { unwritten } from '../../worker/core/unwritten.ts';
import { realtimeStages } from '../../worker/stages/realtime/stages.ts';
import type {
  RealtimeCaps,
  RealtimeEvent,
  RealtimeModel,
  RealtimeSeed,
} from '../../worker/stages/realtime/contract.ts';
import type {
  ChatMessage,
  LlmEvent,
  LlmSession,
  SttEvent,
  StageContext,
  SttSession,
  TtsEvent,
  TtsSession,
} from '../../worker/stages/stage.ts';
import { newFailoverScope } from '../support/core/failover.ts';
import { ScriptedLlm, ScriptedStt, ScriptedTts } from '../support/core/scripted-stages.ts';
import { newStageContext } from '../support/core/stage-context.ts';
import { newVirtualClock } from '../support/core/virtual-clock.ts';

const rate = 8_000;
/** Each character lasts so long in the voice of the model, so that a cut says how many are left. */
const samplesPerChar = 80;
/** A word is a number in the first two samples of its chunk. */
const wordBase = 32_768;
export const sessionMs = 3_600_000;
/** Samples of voice that may be a turn by themselves. */
const shortestTurn = 9_600;
const nothing: ChatMessage = { role: 'user', text: '' };

interface Entry {
  readonly role: 'user' | 'assistant' | 'tool' | 'note';
  text: string;
  readonly item?: string;
}

/** The parts of a text that are compared. Each question compares the whole call, so that most texts come again. */
interface Read {
  readonly letters: string;
  readonly words: readonly string[];
  /** Words that the model made up. */
  readonly made: readonly string[];
}
const known = new Map<string, Read>();
function read(text: string): Read {
  const found = known.get(text);
  if (found !== undefined) return found;
  const letters = text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
  const one = { letters, words: text.split(' '), made: text.match(/\ba\d+\b/g) ?? [] };
  known.set(text, one);
  return one;
}

/** The words that end nearest to so many characters. */
function nearestWords(text: string, chars: number): string {
  const words = text.split(' ');
  const parts = [0, ...words.map((_, at) => at + 1)].map((end) => words.slice(0, end).join(' '));
  const distance = (part: string): number => Math.abs(part.length - chars);
  return parts.toSorted((a, b) => distance(a) - distance(b))[0] ?? '';
}

/** When a vendor ends sessions, and how. */
export interface VendorLimits {
  readonly sessionMs: number;
  /** `ready`: it says at the beginning when that is. A number: it says so by so many milliseconds before. `never`: it says nothing. */
  readonly told: 'ready' | 'never' | number;
  /** Another session can go on from where one was after an answer. */
  readonly hasHandles: boolean;
  readonly caps: RealtimeCaps;
}

/** A vendor that remembers. */
class Vendor {
  readonly sessions: VendorSession[] = [];
  /** What handles stand for. */
  readonly held = new Map<string, readonly Entry[]>();
  readonly caps: RealtimeCaps;
  /** Sessions that were in use when their limit came. */
  ended = 0;
  /** Sessions that went on from another. */
  resumed = 0;
  readonly model: RealtimeModel;

  constructor(prng: Prng, limits?: VendorLimits) {
    this.caps = limits?.caps ?? {
      truncates: prng.chance(0.6),
      removes: prng.chance(0.3),
      answersTurns: false,
      answersTools: false,
      updates: prng.chance(0.5),
      cancels: true,
    };
    this.model = {
      provider: 'simulated',
      open: (context, seed, sink) => {
        const session = new VendorSession(this.caps, seed, sink);
        session.entries.unshift(...(this.held.get(seed.resume ?? '') ?? []));
        this.sessions.push(session);
        if (seed.resume !== undefined) this.resumed += 1;
        if (limits !== undefined) this.limit(session, context, limits);
        return session;
      },
      close: () => Promise.resolve(),
    };
  }

  get last(): VendorSession {
    const session = this.sessions.at(-1);
    if (session === undefined) throw new Error('no session');
    return session;
  }

  /** The session is ready after a while, and ends at its limit whatever happens in it. */
  limit(session: VendorSession, { clock }: StageContext, { sessionMs: ms, told }: VendorLimits): void {
    const later = (afterMs: number, event: RealtimeEvent): void => {
      clock.after(afterMs, () => {
        if (!session.isClosed) session.say(event);
      });
    };
    later(400, { type: 'ready', caps: this.caps, ...(told === 'ready' && { expiresInMs: ms }) });
    if (typeof told === 'number') later(ms - told, { type: 'expiring', inMs: told });
    clock.after(ms, () => {
      if (!session.isClosed) this.ended += 1;
    });
    later(ms, { type: 'error', error: { kind: 'disconnected' } });
  }

  /** What the session holds now can be gone on with. */
  giveHandle(session: VendorSession): void {
    const handle = `h${this.held.size}`;
    this.held.set(
      handle,
      session.entries.map((entry) => ({ ...entry })),
    );
    session.say({ type: 'resumable', handle });
  }
}

class VendorSession {
  readonly outputRate = rate;
  readonly entries: Entry[] = [];
  readonly say: (event: RealtimeEvent) => void;
  readonly caps: RealtimeCaps;
  instructions: string;
  asked: number | undefined;
  isClosed = false;
  /** Words of the chunks of the open turn. */
  turn: number[] = [];
  isOpen = false;

  constructor(caps: RealtimeCaps, seed: RealtimeSeed, say: (event: RealtimeEvent) => void) {
    this.caps = caps;
    this.say = say;
    this.instructions = seed.instructions;
    this.append(seed.history);
  }

  beginTurn(): void {
    this.isOpen = true;
    this.turn = [];
  }

  audio(pcm: Int16Array): void {
    if (!this.isOpen) throw new Error('audio outside of a turn');
    this.turn.push((pcm[0] ?? 0) + (pcm[1] ?? 0) * wordBase);
  }

  endTurn(): void {
    this.entries.push({ role: 'user', text: this.turn.map((one) => `w${one}`).join(' ') });
    this.isOpen = false;
    this.turn = [];
  }

  abandonTurn(): void {
    this.isOpen = false;
    this.turn = [];
  }

  respond(answer: number): void {
    if (this.asked !== undefined) throw new Error('two answers at once');
    this.asked = answer;
  }

  cancel(): void {
    const { asked } = this;
    this.asked = undefined;
    if (asked !== undefined) queueMicrotask(() => undefined);
  }

  append(messages: readonly ChatMessage[]): void {
    for (const { role, text } of messages) {
      if (text.trim() === '') continue;
      this.entries.push({ role: role === 'system' ? 'note' : role, text });
    }
  }

  truncate(item: string, audioMs: number): void {
    const entry = this.entries.find((one) => one.item === item);
    if (entry === undefined) throw new Error('no such item');
    entry.text = nearestWords(entry.text, (audioMs * rate) / 1000 / samplesPerChar);
  }

  update({ instructions }: { readonly instructions: string }): void {
    this.instructions = instructions;
  }

  close(): void {
    this.isClosed = true;
  }
}

/** What a running answer has said and done: words, and the tool that was called behind them, or else it broke off there. */
interface Part {
  readonly text: string;
  readonly call?: string;
}

const wordsIn = (text: string): string[] => text.split(' ').filter((word) => word !== '');

const callMessages = (text: string, id: string): ChatMessage[] => [
  { role: 'assistant', text, toolCalls: [{ id, name: 'clock', arguments: '{}' }] },
  { role: 'tool', callId: id, name: 'clock', text: `result ${id}` },
];

/** As the core asks for the rest of a running answer. */
function behindOf(parts: readonly Part[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  let text = '';
  for (const part of parts) {
    text = `${text} ${part.text}`.trim();
    if (part.call === undefined) continue;
    messages.push(...callMessages(text, part.call));
    text = '';
  }
  if (text !== '') messages.push({ role: 'assistant', text }, { role: 'system', text: 'Go on.' });
  return messages;
}

/** A call, driven as the core drives one. */
export class SimulatedCall {
  readonly prng: Prng;
  readonly limits: VendorLimits | undefined;
  readonly clock = newVirtualClock();
  readonly vendor: Vendor;
  readonly scope: ReturnType<typeof newFailoverScope<RealtimeModel>>;
  readonly stt = new ScriptedStt();
  readonly llm = new ScriptedLlm();
  readonly tts = new ScriptedTts();
  readonly history: ChatMessage[] = [];
  readonly spoken: TtsEvent[] = [];
  readonly ears: SttSession;
  readonly voice: TtsSession;
  readonly mind: LlmSession;
  prompt = 'You are a clerk.';
  words = 0;
  /** What messages of the caller stand for. */
  readonly said = new Map<ChatMessage, string>();
  /** What STT has told last, and what it is to tell later. */
  told: string | undefined;
  owed: (() => void) | undefined;
  late = 0;
  items = 0;
  contexts = 0;
  fellBack = 0;
  questions = 0;

  constructor(seed: number, limits?: VendorLimits) {
    this.prng = newPrng(seed);
    this.limits = limits;
    this.vendor = new Vendor(this.prng, limits);
    this.scope = newFailoverScope('realtime', {
      primary: this.vendor.model,
      machineMs: () => this.clock.now(),
    });
    const stages = realtimeStages({
      vendor: {
        ...this.scope,
        failedOver: () => (this.fellBack += 1),
        isAlone: false,
      },
      cascade: { stt: this.stt.stage, llm: this.llm.stage, tts: this.tts.stage },
      sampleRate: rate,
      modelSpeaks: true,
      sentences: vocabularyOf(['en']).sentences,
      maxSilenceMs: 2_500,
      words: 'own',
      hasStt: true,
    });
    const context = newStageContext(this.clock);
    this.ears = stages.stt.open(context, (event) => this.hear(event));
    this.voice = stages.tts.open(context, (event) => this.spoken.push(event));
    this.mind = stages.llm.open(context, { expects: () => this.request() });
    if (limits === undefined)
      this.vendor.last.say({ type: 'ready', caps: this.vendor.caps, expiresInMs: sessionMs });
    else this.clock.advance(500);
  }

  request(behind: readonly ChatMessage[] = []): { messages: ChatMessage[]; tools: [] } {
    return { messages: [{ role: 'system', text: this.prompt }, ...this.history, ...behind], tools: [] };
  }

  /** The caller says some words, with a noise before them now and then. */
  speak(): void {
    if (this.prng.chance(0.2)) this.utter([this.prng.below(1000) + 1], '');
    const most = this.limits === undefined ? 3 : this.prng.chance(0.05) ? 100 : 20;
    const words = Array.from({ length: 1 + this.prng.below(most) }, () => (this.words += 1));
    const text = words.map((one) => `w${one}`).join(' ');
    const message = { role: 'user', text: this.utter(words, text) } as const;
    this.said.set(message, text);
    this.history.push(message);
  }

  /** Words that came late take the place of the note about them. */
  hear(event: SttEvent): void {
    if (event.type === 'transcript') this.told = event.text;
    if (event.type !== 'written') return;
    this.late += 1;
    const at = this.history.findIndex(({ text }) => text === unwritten);
    const message = { role: 'user', text: event.text } as const;
    expect(event.text).toBe(this.said.get(this.history[at] ?? message));
    this.history[at] = message;
  }

  /** What STT has not told in time it tells now. */
  writeDown(): void {
    this.owed?.();
    this.owed = undefined;
    this.clock.advance(1);
  }

  /** Gives what is known of the words when the turn is over. */
  utter(chunks: readonly number[], text: string): string {
    this.writeDown();
    for (const chunk of chunks) {
      const pcm = new Int16Array(this.limits === undefined ? shortestTurn : 160);
      pcm.set([chunk % wordBase, Math.floor(chunk / wordBase)]);
      this.ears.audio(pcm);
      // A word takes so long.
      this.clock.advance(this.limits === undefined ? 20 : 300);
    }
    this.ears.finalize();
    const [stt] = this.stt.sessions;
    const tell = (): void => {
      if (text !== '')
        stt?.say({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
      stt?.say({ type: 'finalized' });
    };
    this.told = undefined;
    if (text !== '' && this.prng.chance(0.2)) this.clock.advance(600);
    // Where an answer would wait for them, they are told as to come.
    if (this.told === unwritten) this.owed = tell;
    else tell();
    this.clock.advance(20);
    return this.told ?? text;
  }

  /** What happens to sessions between turns. */
  disturb(): void {
    const { prng, vendor, clock, limits } = this;
    if (limits !== undefined) {
      clock.advance(prng.below(8_000));
      return;
    }
    const session = vendor.sessions.findLast(({ isClosed }) => !isClosed);
    if (session === undefined) return;
    if (prng.chance(0.06)) {
      session.say({ type: 'error', error: { kind: 'disconnected' } });
      clock.advance(11_000);
    } else if (prng.chance(0.06)) session.say({ type: 'expiring', inMs: 60_000 });
    else if (prng.chance(0.1)) {
      // Other calls find the vendor broken.
      const { breaker } = this.scope.primary;
      breaker.failed(breaker.force(), clock.now(), { pauseMs: 3_000 });
      if (prng.chance(0.5)) session.say({ type: 'error', error: { kind: 'disconnected' } });
    }
    clock.advance(prng.below(prng.chance(0.1) ? sessionMs : 4_000));
    this.settleNext();
  }

  /** A session that was opened is ready. */
  settleNext(): void {
    this.clock.advance(600);
    const { last, caps } = this.vendor;
    if (!last.isClosed) last.say({ type: 'ready', caps, expiresInMs: sessionMs });
  }

  /** The core asks, behind what the running answer has done so far; the vendor answers, and the caller hears all of it or a part. */
  ask(parts: readonly Part[] = []): void {
    this.questions += 1;
    const said: LlmEvent[] = [];
    const behind = behindOf(parts);
    const round = this.mind.start(this.request(behind), (event) => said.push(event));
    if (this.limits === undefined && this.prng.chance(0.05))
      this.vendor.last.say({ type: 'error', error: { kind: 'disconnected' } });
    const last = this.vendor.sessions.findLast(({ isClosed, asked }) => !isClosed && asked !== undefined);
    if (last === undefined) {
      this.answerInstead(said, parts);
      return;
    }
    this.compare(last, behind);
    if (this.prng.chance(0.5)) this.writeDown();
    if (parts.length === 0) this.contexts += 1;
    if (this.prng.chance(0.15)) this.callTool(last, said, parts);
    else if (this.prng.chance(0.1)) {
      round.cancel();
      this.writeDown();
      this.enter(parts, { isCut: true });
      this.history.push({ role: 'assistant', text: 'a line' });
    } else this.answer(last, said, parts);
  }

  answerInstead(said: readonly LlmEvent[], parts: readonly Part[]): void {
    // Another STT is given what nobody has written down.
    const other = this.stt.sessions.at(-1);
    const [own] = this.stt.sessions;
    if (other !== own && this.owed !== undefined) {
      const text = this.said.get(this.history.findLast(({ role }) => role === 'user') ?? nothing) ?? '';
      other?.say({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
      other?.say({ type: 'finalized' });
    }
    this.llm.rounds.at(-1)?.say({ type: 'text', text: 'from elsewhere' });
    this.llm.rounds.at(-1)?.say({ type: 'done', finish: 'stop', usage: undefined });
    expect(said.filter(({ type }) => type === 'done' || type === 'error')).toHaveLength(1);
    this.enter(parts, { isCut: false });
    this.history.push({ role: 'assistant', text: `from elsewhere ${this.questions}` });
    // The caller is owed more, and has said nothing meanwhile.
    if (this.limits !== undefined || this.prng.chance(0.7)) return;
    this.clock.advance(this.prng.below(4_000));
    this.ask();
  }

  /** The model calls a tool, and may say something before that. The caller may cut that while the tool runs. */
  callTool(session: VendorSession, said: readonly LlmEvent[], before: readonly Part[]): void {
    const answer = session.asked ?? 0;
    const id = `call ${this.questions}`;
    const text = this.prng.chance(0.5) ? this.sayItems(session) : '';
    session.say({ type: 'tool-call', answer, id, name: 'clock', arguments: '{}' });
    session.asked = undefined;
    session.say({ type: 'done', answer, finish: 'completed' });
    expect(said.slice(-2).map(({ type }) => type)).toEqual(['tool-call', 'done']);
    const parts = [...before, { text, call: id }];
    this.writeDown();
    this.disturb();
    if (this.prng.chance(0.2)) {
      this.voice.cancel(this.contexts);
      this.enter(parts, { isCut: true });
    } else this.ask(parts);
  }

  /** Two items at most, in pieces. */
  sayItems(session: VendorSession): string {
    const { prng } = this;
    const answer = session.asked ?? 0;
    let whole = '';
    for (let count = 1 + prng.below(2); count > 0; count -= 1) {
      this.items += 1;
      const item = `item ${this.items}`;
      const text = Array.from({ length: 2 + prng.below(6) }, () => `a${(this.words += 1)}`).join(' ');
      session.entries.push({ role: 'assistant', text, item });
      for (const piece of text.split(/(?<= )/)) {
        session.say({ type: 'text', answer, item, text: piece });
        this.voice.speak(this.contexts, piece);
        const pcm = new Int16Array(piece.length * samplesPerChar);
        session.say({ type: 'audio', answer, item, pcm });
      }
      whole += `${whole === '' ? '' : ' '}${text}`;
    }
    return whole;
  }

  /** The caller may cut it. An answer that broke off may be gone on with. */
  answer(session: VendorSession, said: readonly LlmEvent[], before: readonly Part[]): void {
    const { prng } = this;
    const answer = session.asked ?? 0;
    const parts = [...before, { text: this.sayItems(session) }];
    session.asked = undefined;
    const isLost = this.limits === undefined && prng.chance(0.1);
    if (isLost) session.say({ type: 'error', error: { kind: 'disconnected' } });
    else session.say({ type: 'done', answer, finish: 'completed' });
    expect(said.at(-1)).toMatchObject(isLost ? { type: 'error' } : { type: 'done', finish: 'stop' });
    if (this.limits?.hasHandles === true && prng.chance(0.8)) this.vendor.giveHandle(session);
    this.writeDown();
    this.clock.advance(1 + prng.below(3_000));
    if (isLost && prng.chance(0.7)) {
      this.ask(parts);
      return;
    }
    this.voice.flush(this.contexts);
    // The session may be lost, or end, while its answer is being heard.
    if (this.limits === undefined && prng.chance(0.1)) {
      this.vendor.sessions
        .findLast(({ isClosed }) => !isClosed)
        ?.say({ type: 'error', error: { kind: 'disconnected' } });
      if (prng.chance(0.5)) this.settleNext();
    }
    const isCut = isLost || prng.chance(0.3);
    if (isCut) this.voice.cancel(this.contexts);
    else this.clock.advance(10_000);
    this.enter(parts, { isCut });
  }

  /** What was heard of a running answer enters the history. */
  enter(parts: readonly Part[], { isCut }: { readonly isCut: boolean }): void {
    const all = parts.flatMap(({ text }) => wordsIn(text)).length;
    let left = isCut && all > 0 ? this.prng.below(all) : all;
    let text = '';
    for (const part of parts) {
      const words = wordsIn(part.text);
      text = `${text} ${words.slice(0, left).join(' ')}`.trim();
      left = Math.max(0, left - words.length);
      if (part.call === undefined) continue;
      this.history.push(...callMessages(text, part.call));
      text = '';
    }
    if (text !== '') this.history.push({ role: 'assistant', text });
  }

  /** The vendor remembers what was said and heard; a model that cannot forget was told what was not heard. */
  compare(session: VendorSession, behind: readonly ChatMessage[]): void {
    expect(session.instructions).toBe(this.prompt);
    const isNote = ({ role, text }: Entry): boolean => role === 'note' && text !== 'Go on.';
    const all = [...this.history, ...behind];
    const forgets = session.caps.truncates || session.caps.removes;
    const cut = forgets && !session.entries.some(isNote);
    const held = session.entries.filter((entry) => entry.role !== 'note' && read(entry.text).letters !== '');
    const made = held.flatMap(({ text }) => read(text).made);
    expect(made, 'words of the model are told once').toHaveLength(new Set(made).size);
    // What a session did not say itself it was told, and nobody tells what was not heard.
    const heard = new Set(all.flatMap(({ role, text }) => (role === 'assistant' ? read(text).words : [])));
    const given = held.filter(({ role, item }) => role === 'assistant' && item === undefined);
    expect(given.flatMap(({ text }) => read(text).words).filter((word) => !heard.has(word))).toEqual([]);
    if (forgets) expect(session.entries.filter(({ text }) => text.includes('your last answer'))).toEqual([]);
    const shown = (role: string, text: string): string => `${role} ${read(text).letters}`;
    const told = held.map(({ role, text }) => shown(role, text));
    const wanted = all
      .filter((message) => message.role !== 'system' && read(message.text).letters !== '')
      .map((message) => shown(message.role, this.said.get(message) ?? message.text));
    // Items of one answer are one message of the history.
    if (cut) expect(joined(told)).toEqual(joined(wanted));
    else {
      const users = (list: readonly string[]): string[] => list.filter((one) => one.startsWith('user'));
      expect(users(told)).toEqual(users(wanted));
    }
  }
}

/** Neighbours of one role become one. */
function joined(list: readonly string[]): string[] {
  const result: string[] = [];
  for (const one of list) {
    const [role = '', letters = ''] = one.split(' ');
    if (result.at(-1)?.startsWith(`${role} `) === true) result.push(`${result.pop() ?? ''}${letters}`);
    else result.push(one);
  }
  return result;
}
