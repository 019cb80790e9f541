/**
 * Conversations with the call core as readable scripts: who says what, and when. A script plays the caller, the
 * stages, playout and the client on virtual time; TTS takes 50 ms for a character. It never looks into the state.
 */
import type { EndCause } from '../../../worker/core/course.ts';
import assert from 'node:assert/strict';
import type { CallAction, ContextMessage } from '../../../worker/core/actions.ts';
import type { OpaqueReasoning } from '../../../worker/core/tools/tools-state.ts';
import { ToldJudge } from '../../sim/judges/told-judge.ts';
import type { TurnTimes } from '../../../worker/core/told.ts';
import type { CarrierOutcome } from '../../../shared/telephony/call-control.ts';
import type { CallEvent } from '../../../worker/core/events.ts';
import type { CallSettings } from '../../../worker/core/settings.ts';
import type { CallState } from '../../../worker/core/state.ts';
import { realCore, takenOver, type Core } from './core.ts';
import { ordersIn, type Order } from './order.ts';
import { shown } from './orders.ts';
import { addMark, addSpeech, giveWay, noAudio } from './scripted-audio.ts';
import { scriptSettings, type ScriptOptions } from './script-settings.ts';
import { ScriptedTools, seen, type ScriptedCall } from './scripted-tools.ts';

export class Script {
  readonly #told = new ToldJudge((holds, rule) => assert.ok(holds, rule));
  readonly #core: Core;
  #state: CallState;
  #settings: CallSettings;
  #echoMs: number | undefined;
  #now = 0;
  #orders: Order[] = [];
  #audio = noAudio(0);
  #epoch = 0;
  #round = 0;
  #echoes: { id: string; at: number }[] = [];
  #messages: readonly ContextMessage[] = [];
  #rounds = 0;
  #finalizes = 0;
  #endReason: string | undefined;
  #endCause: EndCause | undefined;
  #offered: readonly string[] = [];
  /** What the carrier was asked for. */
  readonly transfers: Extract<CallAction, { type: 'carrier.transfer' }>[] = [];
  /** Agents that were asked for, and what became of each by the core's word. */
  readonly agents: {
    readonly commandId: string;
    readonly agent: string;
    state: 'asked' | 'entered' | 'dismissed';
  }[] = [];
  readonly #tools = new ScriptedTools((event) => this.tell(event));
  readonly #lines: CallEvent;

  constructor({ core = realCore, settings = {}, echoMs, linesReady = true }: ScriptOptions = {}) {
    this.#core = core;
    this.#lines = { type: 'lines.ready', fillers: linesReady, farewell: linesReady };
    this.#settings = { ...scriptSettings, ...settings };
    this.#echoMs = echoMs;
    this.#state = core.newCall(this.#settings);
  }

  // ---- what happens ----

  /** Tells one fact and performs what follows. */
  tell(event: CallEvent): this {
    const orders = this.#core.step(this.#state, event, this.#now);
    for (const order of orders) this.#perform(order);
    this.#told.saw(event, orders);
    this.#orders.push(...ordersIn(orders));
    return this;
  }

  opens({ sttStreams = false } = {}): this {
    return this.tell({ type: 'call.opened', ...(sttStreams && { sttStreams }) }).tell(this.#lines);
  }

  /** Time passes; deadlines and echoes arrive exactly when they are due. */
  later(ms: number): this {
    const until = this.#now + ms;
    for (let turns = 0; ; turns += 1) {
      assert.ok(turns < 1_000, 'deadlines follow one another without end');
      const echo = this.#echoes[0];
      const deadline = this.#core.nextDeadline(this.#state) ?? Infinity;
      if (Math.min(echo?.at ?? Infinity, deadline) > until) break;
      if (echo !== undefined && echo.at <= deadline) {
        this.#echoes.shift();
        this.#passTo(echo.at);
        this.tell({ type: 'mark.played', id: echo.id });
      } else {
        this.#passTo(deadline);
        this.tell({ type: 'deadline.reached' });
      }
    }
    this.#passTo(until);
    return this;
  }

  #passTo(time: number): void {
    const ms = Math.max(0, time - this.#now);
    this.#now += ms;
    if (this.#audio.yieldMs === 0) return;
    giveWay(this.#audio, ms);
    this.#sendMarks();
  }

  /** From now on no mark comes back. */
  losesEchoes(): this {
    this.#echoMs = undefined;
    return this;
  }

  callerBegins(): this {
    return this.later(this.#settings.turn.minSpeechMs).tell({ type: 'speech.started' });
  }

  /** The voice lasts long enough to be an interruption; with `isNoEcho` its waveform shows that it is not the agent's. */
  callerInsists({ isNoEcho = false } = {}): this {
    return this.later(250).tell({ type: 'speech.confirmed', position: this.#position(), isNoEcho });
  }

  /** The voice goes on, and has done so for `lastedMs` since it began. */
  callerGoesOn(lastedMs: number): this {
    return this.tell({ type: 'voice.lasted', lastedMs, position: this.#position() });
  }

  callerStops(): this {
    return this.later(this.#settings.turn.stopMs).tell({ type: 'speech.stopped' });
  }

  /** The caller is silent until the turn is over. */
  silenceEndsTheTurn(): this {
    this.silenceMs();
    return this;
  }

  /** How long that is, from the last voice on. */
  silenceMs(): number {
    const { stopMs, maxSilenceMs } = this.#settings.turn;
    const asked = this.#finalizes;
    let waitedMs = 0;
    for (; this.#finalizes === asked; waitedMs += 10) {
      assert.ok(waitedMs <= maxSilenceMs, 'the turn does not end');
      this.later(10);
    }
    return stopMs + waitedMs;
  }

  sttHears(text: string, { speechFinal = false } = {}): this {
    return this.tell({ type: 'stt.final', text, speechFinal, position: this.#position() });
  }

  sttGuesses(text: string): this {
    return this.tell({ type: 'stt.partial', text, speechFinal: false, position: this.#position() });
  }

  sttFinalizes(): this {
    return this.tell({ type: 'stt.finalized', position: this.#position() });
  }

  /** A whole turn. */
  callerSays(text: string): this {
    this.callerBegins().callerInsists().sttGuesses(text).callerStops().silenceEndsTheTurn();
    return this.sttHears(text).sttFinalizes();
  }

  presses(digits: string): this {
    for (const digit of digits) this.tell({ type: 'dtmf.pressed', digit, position: this.#position() });
    return this;
  }

  llmWrites(text: string): this {
    return this.tell({ type: 'llm.text', round: this.#round, text });
  }

  llmIsDone(): this {
    return this.tell({ type: 'llm.done', round: this.#round, finish: 'stop', toolCalls: [] });
  }

  /** The round ends in these calls. */
  llmCalls(...calls: ScriptedCall[]): this {
    return this.llmEnds('tool_calls', calls);
  }

  llmEnds(
    finish: 'tool_calls' | 'length' | 'content_filter',
    calls: readonly ScriptedCall[],
    reasoning?: OpaqueReasoning,
  ): this {
    const toolCalls = calls.map((call) => this.#tools.requested(call));
    return this.tell({ type: 'llm.done', round: this.#round, finish, toolCalls, reasoning });
  }

  llmFails(): this {
    return this.tell({ type: 'llm.failed', round: this.#round });
  }

  /** The tools of the call, which answer when the script says so. */
  get tools(): ScriptedTools {
    return this.#tools;
  }

  /** Another worker takes the call over from what was written down. Runs of tools die with the old one. */
  workerIsLost(): this {
    this.#state = takenOver(this.#state, this.#settings);
    this.#tools.lose();
    return this.tell({ type: 'call.resumed', position: this.#position(), turnAudio: false }).tell(
      this.#lines,
    );
  }

  /** The carrier says what became of the newest transfer. */
  carrierAnswers(outcome: CarrierOutcome): this {
    const { commandId = '' } = this.transfers.at(-1) ?? {};
    return this.tell({ type: 'carrier.answered', commandId, outcome });
  }

  toolAnswers(name: string, text = 'fine'): this {
    this.#tools.answers(name, text);
    return this;
  }

  toolFails(name: string, options?: { transport?: boolean }): this {
    this.#tools.fails(name, options);
    return this;
  }

  llmAnswers(text: string): this {
    return this.llmWrites(text).llmIsDone();
  }

  ttsFails(): this {
    return this.tell({ type: 'tts.failed' });
  }

  /** TTS delivers what it was given, and `ms` of it go out. */
  botPlays(ms: number): this {
    this.#deliver();
    const audio = this.#audio;
    assert.ok(!audio.held, 'the output is held');
    if (!audio.started) {
      audio.started = true;
      this.tell({ type: 'playout.started', context: audio.context, audioAt: this.#now });
    }
    const endMs = audio.pieces.at(-1)?.endMs ?? 0;
    if (audio.dry && endMs > audio.sentMs) {
      audio.dry = false;
      this.tell({ type: 'playout.fed', context: audio.context });
    }
    for (const target = Math.min(audio.sentMs + ms, endMs); audio.sentMs < target;) {
      const stop = Math.min(target, audio.marks[0]?.dueMs ?? Infinity);
      this.later(stop - audio.sentMs);
      if (audio !== this.#audio) return this;
      audio.sentMs = stop;
      this.#sendMarks();
    }
    return this.#runDry(endMs);
  }

  #runDry(endMs: number): this {
    const audio = this.#audio;
    const { context, sentMs } = audio;
    if (context === 0 || audio.flushed || audio.dry || sentMs < endMs) return this;
    audio.dry = true;
    return this.tell({ type: 'playout.starved', context, sentMs });
  }

  /** Everything that exists goes out and, in the end, is played. */
  botFinishes(): this {
    this.botPlays(Infinity);
    if (this.#audio.flushed) this.drains();
    return this.later(this.#echoMs ?? 500);
  }

  drains(): this {
    const { context, sentMs } = this.#audio;
    return this.tell({ type: 'playout.drained', context, sentMs });
  }

  // ---- what is expected ----

  /** Exactly these orders since the last look. */
  orders(...expected: string[]): this {
    assert.deepEqual(this.#orders.map(shown), expected);
    this.#orders = [];
    return this;
  }

  /** These are the first orders since the last look. */
  ordersFirst(...expected: string[]): this {
    assert.deepEqual(this.#orders.map(shown).slice(0, expected.length), expected);
    return this;
  }

  /** These orders are not among those since the last look. */
  without(...kinds: Order['type'][]): this {
    for (const kind of kinds) {
      assert.ok(!this.#orders.some(({ type }) => type === kind), `${kind} was ordered`);
    }
    return this.skips();
  }

  /** This order is among those since the last look. */
  ordered(expected: string): this {
    assert.ok(
      this.#orders.some((order) => shown(order) === expected),
      `${expected} is not among: ${this.#orders.map(shown).join(', ')}`,
    );
    return this;
  }

  /** Forgets what was ordered so far. */
  skips(): this {
    this.#orders = [];
    return this;
  }

  /** The running response has been given this text so far. */
  botSays(text: string): this {
    assert.equal(this.#audio.text, text);
    return this;
  }

  /** The newest request to the LLM, as `role: text`, without the prompt. */
  llmIsAsked(...messages: string[]): this {
    const asked = this.#messages.filter(({ role }) => role !== 'system');
    assert.deepEqual(
      asked.map(({ role, text }) => `${role}: ${text}`),
      messages,
    );
    return this;
  }

  /** The newest request to the LLM with its calls, results and notes, without the prompt. */
  llmSees(...lines: string[]): this {
    assert.deepEqual(seen(this.#messages), lines);
    return this;
  }

  prompted(prompt: string): this {
    assert.equal(this.#messages[0]?.text, prompt);
    return this;
  }

  /** The newest request offers these tools. */
  offers(...names: string[]): this {
    assert.deepEqual(this.#offered, names);
    return this;
  }

  /** Exactly these tools are under way, in the order in which they began. */
  running(...names: string[]): this {
    assert.deepEqual(this.#tools.running, names);
    return this;
  }

  /** The output waits at its sample. */
  isHeld(): this {
    assert.ok(this.#audio.held, 'the output is not held');
    return this;
  }

  rounds(count: number): this {
    assert.equal(this.#rounds, count);
    return this;
  }

  ends(reason: string | undefined, cause?: EndCause): this {
    assert.equal(this.#endReason, reason);
    if (cause !== undefined) assert.equal(this.#endCause, cause);
    return this;
  }

  waitsForNothing(): this {
    assert.equal(this.#core.nextDeadline(this.#state), undefined);
    return this;
  }

  /** Measurements among the orders since the last look. */
  measured(): TurnTimes[] {
    return this.#orders.flatMap((order) => (order.type === 'turn.measured' ? [order.times] : []));
  }

  /** The newest request to the LLM as it was sent. */
  get request(): readonly ContextMessage[] {
    return this.#messages;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Number of the newest request to the LLM. */
  get round(): number {
    return this.#round;
  }

  get #agent(): Script['agents'][number] {
    const agent = this.agents.at(-1);
    assert.ok(agent !== undefined, 'an agent was asked for');
    return agent;
  }

  /** The newest agent that was asked for is ready, with these settings beside those of scripts. */
  agentIsReady(more: Partial<CallSettings>): this {
    const { commandId, agent } = this.#agent;
    const settings = { ...scriptSettings, ...more };
    this.tell({ type: 'agent.prepared', commandId, agent, settings });
    if (this.#agent.state === 'entered') this.#settings = settings;
    return this;
  }

  /** The call has what the node of its flow has, with these settings beside those that it had. */
  nodeIsEquipped(more: Partial<CallSettings>, { isHeardAnew = false } = {}): this {
    this.#settings = { ...this.#settings, ...more };
    return this.tell({ type: 'node.equipped', settings: this.#settings, isHeardAnew });
  }

  agentIsMissing(): this {
    return this.tell({ type: 'agent.missing', commandId: this.#agent.commandId });
  }

  get context(): number {
    return this.#audio.context;
  }

  // ---- the world ----

  #position(): { context: number; sentMs: number } | undefined {
    const { context, sentMs } = this.#audio;
    return context === 0 ? undefined : { context, sentMs };
  }

  #deliver(): void {
    const audio = this.#audio;
    const { context } = audio;
    for (const piece of audio.pieces) {
      if (piece.reported) continue;
      piece.reported = true;
      this.tell({ type: 'tts.spoken', context, chars: piece.endSaid, audioMs: piece.endMs });
    }
    if (audio.flushed) this.tell({ type: 'tts.flushed', context, audioMs: audio.pieces.at(-1)?.endMs ?? 0 });
  }

  #sendMarks(): void {
    const audio = this.#audio;
    for (let mark = audio.marks[0]; mark !== undefined && mark.dueMs <= audio.sentMs; mark = audio.marks[0]) {
      audio.marks.shift();
      this.tell({ type: 'mark.sent', id: mark.id });
      if (this.#echoMs !== undefined) this.#echoes.push({ id: mark.id, at: this.#now + this.#echoMs });
    }
  }

  #perform(order: CallAction): void {
    const audio = this.#audio;
    if (order.type === 'playout.open') this.#audio = noAudio(order.context);
    else if (order.type === 'tts.speak') addSpeech(audio, order.text);
    else if (order.type === 'tts.flush') audio.flushed = true;
    else if (order.type === 'stt.finalize') this.#finalizes += 1;
    else if (order.type === 'playout.mark') addMark(audio, order.id);
    else if (order.type === 'playout.pause') {
      audio.held = true;
      audio.yieldMs = order.duckMs ?? 0;
    } else if (order.type === 'playout.resume' || order.type === 'playout.duck') {
      audio.held = false;
      audio.yieldMs = 0;
    } else if (order.type === 'playout.clear') {
      this.#audio = noAudio(0);
      this.#echoes = [];
    } else if (order.type === 'carrier.transfer') this.transfers.push(order);
    else if (order.type === 'agent.prepare') this.agents.push({ ...order, state: 'asked' });
    else if (order.type === 'agent.enter') this.#agent.state = 'entered';
    else if (order.type === 'agent.dismiss') this.#agent.state = 'dismissed';
    else if (order.type === 'call.end') [this.#endReason, this.#endCause] = [order.reason, order.cause];
    else if (order.type === 'llm.start') {
      this.#epoch = order.epoch;
      this.#round = order.round;
      this.#messages = order.messages;
      this.#offered = order.tools.map(({ name }) => name);
      this.#rounds += 1;
    }
    this.#tools.perform(order);
  }
}
