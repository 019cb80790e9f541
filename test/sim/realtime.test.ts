/**
 * Calls of models that hear and speak, seeded: a conversation goes on while sessions end, expire, stay silent, answer in pieces and call
 * tools, while callers cut answers, and while prompts change. The vendor is a model of its own: it keeps the conversation that a session was told,
 * and at each question that must be what was said and heard, in the words of the history.
 */
import { expect, it } from 'vitest';
import { newPrng, type Prng } from '../../shared/base/prng.ts';
import { realtimeStages } from '../../worker/stages/realtime/call.ts';
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
  SttSession,
  TtsEvent,
  TtsSession,
} from '../../worker/stages/stage.ts';
import { ScriptedLlm, ScriptedStt, ScriptedTts } from '../support/core/scripted-stages.ts';
import { newStageContext } from '../support/core/stage-context.ts';
import { newVirtualClock } from '../support/core/virtual-clock.ts';
import { tries } from '../support/sampled.ts';

const rate = 8_000;
/** Each character lasts so long in the voice of the model, so that a cut says how many are left. */
const samplesPerChar = 80;
const sessionMs = 3_600_000;

interface Entry {
  readonly role: 'user' | 'assistant' | 'tool' | 'note';
  text: string;
  readonly item?: string;
}

const lettersOf = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

/** The words that end nearest to so many characters. */
function nearestWords(text: string, chars: number): string {
  const words = text.split(' ');
  const parts = [0, ...words.map((_, at) => at + 1)].map((end) => words.slice(0, end).join(' '));
  const distance = (part: string): number => Math.abs(part.length - chars);
  return parts.toSorted((a, b) => distance(a) - distance(b))[0] ?? '';
}

/** A vendor that remembers. */
class Vendor {
  readonly sessions: VendorSession[] = [];
  readonly caps: RealtimeCaps;
  /** Sessions that end as soon as they are opened. */
  refusals = 0;
  readonly model: RealtimeModel;

  constructor(prng: Prng) {
    this.caps = {
      truncates: prng.chance(0.6),
      answersTurns: false,
      answersTools: false,
      updates: prng.chance(0.5),
      cancels: true,
    };
    this.model = {
      provider: 'simulated',
      open: (_context, seed, sink) => {
        const session = new VendorSession(this.caps, seed, sink);
        this.sessions.push(session);
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
}

class VendorSession {
  readonly outputRate = rate;
  readonly entries: Entry[] = [];
  readonly say: (event: RealtimeEvent) => void;
  readonly caps: RealtimeCaps;
  instructions: string;
  asked: number | undefined;
  isClosed = false;
  /** First samples of the chunks of the open turn. */
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
    this.turn.push(pcm[0] ?? 0);
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

/** A call, driven as the core drives one. */
class SimulatedCall {
  readonly prng: Prng;
  readonly clock = newVirtualClock();
  readonly vendor: Vendor;
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
  items = 0;
  contexts = 0;
  fellBack = 0;
  questions = 0;

  constructor(seed: number) {
    this.prng = newPrng(seed);
    this.vendor = new Vendor(this.prng);
    const stages = realtimeStages({
      model: this.vendor.model,
      cascade: { stt: this.stt.stage, llm: this.llm.stage, tts: this.tts.stage },
      sampleRate: rate,
      modelSpeaks: true,
      words: 'own',
      meter: { requested: () => undefined, firstResult: () => undefined, spent: () => undefined },
      failed: () => undefined,
      fellBack: () => (this.fellBack += 1),
    });
    const context = newStageContext(this.clock);
    this.ears = stages.stt.open(context, () => undefined);
    this.voice = stages.tts.open(context, (event) => this.spoken.push(event));
    this.mind = stages.llm.open(context, { expects: () => this.request() });
    this.vendor.last.say({ type: 'ready', caps: this.vendor.caps, expiresInMs: sessionMs });
  }

  request(): { messages: ChatMessage[]; tools: [] } {
    return { messages: [{ role: 'system', text: this.prompt }, ...this.history], tools: [] };
  }

  /** The caller says some words, with a noise before them now and then. */
  speak(): void {
    if (this.prng.chance(0.2)) this.utter([this.prng.below(1000) + 1], '');
    const words = Array.from({ length: 1 + this.prng.below(3) }, () => (this.words += 1));
    const text = words.map((one) => `w${one}`).join(' ');
    this.utter(words, text);
    this.history.push({ role: 'user', text });
  }

  utter(chunks: readonly number[], text: string): void {
    for (const chunk of chunks) {
      this.ears.audio(new Int16Array(160).fill(chunk));
      this.clock.advance(20);
    }
    this.ears.finalize();
    const stt = this.stt.sessions.at(-1);
    if (text !== '')
      stt?.say({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
    stt?.say({ type: 'finalized' });
    this.clock.advance(20);
  }

  /** What happens to sessions between turns. */
  disturb(): void {
    const { prng, vendor, clock } = this;
    const session = vendor.sessions.findLast(({ isClosed }) => !isClosed);
    if (session === undefined) return;
    if (prng.chance(0.06)) {
      session.say({ type: 'error', error: { kind: 'disconnected' } });
      clock.advance(11_000);
    } else if (prng.chance(0.06)) session.say({ type: 'expiring', inMs: 60_000 });
    clock.advance(prng.below(prng.chance(0.1) ? sessionMs : 4_000));
    this.settleNext();
  }

  /** A session that was opened is ready. */
  settleNext(): void {
    this.clock.advance(600);
    const { last, caps } = this.vendor;
    if (!last.isClosed) last.say({ type: 'ready', caps, expiresInMs: sessionMs });
  }

  /** The core asks; the vendor answers, and the caller hears all of it or a part. */
  ask(): void {
    this.questions += 1;
    const said: LlmEvent[] = [];
    const round = this.mind.start(this.request(), (event) => said.push(event));
    if (this.prng.chance(0.05)) this.vendor.last.say({ type: 'error', error: { kind: 'disconnected' } });
    const { last } = this.vendor;
    if (last.isClosed || last.asked === undefined) {
      this.answerInstead(said);
      return;
    }
    this.compare(last);
    this.contexts += 1;
    if (this.prng.chance(0.15)) this.callTool(last, said);
    else if (this.prng.chance(0.1)) {
      round.cancel();
      this.history.push({ role: 'assistant', text: 'a line' });
    } else this.answer(last, said);
  }

  answerInstead(said: readonly LlmEvent[]): void {
    this.llm.rounds.at(-1)?.say({ type: 'text', text: 'from elsewhere' });
    this.llm.rounds.at(-1)?.say({ type: 'done', finish: 'stop', usage: undefined });
    expect(said.filter(({ type }) => type === 'done' || type === 'error')).toHaveLength(1);
    this.history.push({ role: 'assistant', text: 'from elsewhere' });
  }

  callTool(session: VendorSession, said: readonly LlmEvent[]): void {
    const answer = session.asked ?? 0;
    const id = `call ${this.questions}`;
    session.say({ type: 'tool-call', answer, id, name: 'clock', arguments: '{}' });
    session.asked = undefined;
    session.say({ type: 'done', answer, finish: 'completed' });
    expect(said.map(({ type }) => type)).toEqual(['tool-call', 'done']);
    this.history.push(
      { role: 'assistant', text: '', toolCalls: [{ id, name: 'clock', arguments: '{}' }] },
      { role: 'tool', callId: id, name: 'clock', text: `result ${id}` },
    );
    this.disturb();
    this.ask();
  }

  /** Two items at most, in pieces; the caller may cut it. */
  answer(session: VendorSession, said: readonly LlmEvent[]): void {
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
    session.asked = undefined;
    session.say({ type: 'done', answer, finish: 'completed' });
    expect(said.at(-1)).toMatchObject({ type: 'done', finish: 'stop' });
    this.voice.flush(this.contexts);
    this.clock.advance(1 + prng.below(3_000));
    const isCut = prng.chance(0.3);
    if (isCut) this.voice.cancel(this.contexts);
    else this.clock.advance(10_000);
    const words = whole.split(' ');
    const heard = isCut ? words.slice(0, prng.below(words.length)).join(' ') : whole;
    if (heard !== '') this.history.push({ role: 'assistant', text: heard });
  }

  /** The vendor remembers what was said and heard; a model that cannot forget was told what was not heard. */
  compare(session: VendorSession): void {
    expect(session.instructions).toBe(this.prompt);
    const isNote = ({ role }: Entry): boolean => role === 'note';
    const cut = session.caps.truncates && !session.entries.some(isNote);
    const held = session.entries.filter((entry) => !isNote(entry) && lettersOf(entry.text) !== '');
    const shown = (role: string, text: string): string => `${role} ${lettersOf(text)}`;
    const told = held.map(({ role, text }) => shown(role, text));
    const wanted = this.history
      .filter((message) => lettersOf(message.text) !== '')
      .map(({ role, text }) => shown(role, text));
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

function play(seed: number): SimulatedCall {
  const call = new SimulatedCall(seed);
  for (let turn = 0; turn < 12; turn += 1) {
    call.disturb();
    if (call.prng.chance(0.1)) call.prompt = `You are clerk ${turn}.`;
    if (call.prng.chance(0.1)) call.history.push({ role: 'assistant', text: `line ${turn}` });
    call.speak();
    call.ask();
  }
  return call;
}

it('a session holds what was said and heard, whatever becomes of sessions', () => {
  let sessions = 0;
  let fellBack = 0;
  for (let seed = 1; seed <= tries(20_000, 1_000); seed += 1) {
    try {
      const call = play(seed);
      sessions += call.vendor.sessions.length;
      fellBack += call.fellBack;
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  expect(sessions).toBeGreaterThan(1_000);
  expect(fellBack).toBeGreaterThan(0);
});
