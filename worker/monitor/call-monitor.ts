/**
 * The operators of one call: they hear both sides and read along, whisper to the agent, and one at a time speaks to the caller in its place.
 * Who holds the call is known here; whether the agent is silent, the core decides.
 */
import type { Millis } from '../../shared/base/units.ts';
import {
  mayDo,
  monitorFrameMs,
  mostMonitors,
  operatorRate,
  readOperator,
  type FromOperator,
  type MonitorRefusal,
  type MonitorRole,
  type MonitorUse,
  type TakeoverState,
  type ToOperator,
} from '../../shared/monitor/messages.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import { auditOf, errorFields, type Log } from '../../shared/runtime/log.ts';
import type { BegunCall, CallObserver, CallStep, ObservedCall } from '../call/observer.ts';
import type { CallCommand } from '../core/commands.ts';
import type { CallState } from '../core/state.ts';
import type { ConversationEvent } from '../core/told.ts';
import { conversationMessage } from '../transports/conversation-message.ts';
import type { Redaction } from '../../shared/calls/privacy/redaction.ts';
import type { WebSocket } from 'ws';
import { OperatorSocket } from './operator-socket.ts';
import { OperatorWords } from './operator-words.ts';
import { ShownWords } from './shown-words.ts';
import { StereoMix } from './stereo-mix.ts';

/** An operator's voice may be ahead of the clock by so much; more comes from no microphone. */
const mostAheadMs: Millis = 1_000;

/** A microphone that gives nothing for so long, not even silence, is gone. */
const microphoneGoneMs: Millis = 500;

const whispered = (text: string): string =>
  `A supervisor of this call tells you, and the caller does not hear it: ${text}`;
const wordsUnknown = 'What the person said was not written down.';

export interface MonitoredAgent {
  readonly tenant: string | undefined;
  /** Said to the caller when somebody begins to listen; empty: nothing is. */
  readonly notice: string;
  /** Takes out of texts what operators must not read. One for each call. */
  readonly redaction: Redaction;
}

interface AdmittedOperator {
  readonly role: MonitorRole;
  readonly by: string;
  /** Whose calls the operator may have; absent: those of all. */
  readonly tenant: string | undefined;
}

export interface CallMonitorOptions {
  readonly call: ObservedCall;
  readonly clock: Clock;
  readonly agent: MonitoredAgent;
  readonly gone: () => void;
}

export class CallMonitor implements CallObserver {
  readonly #options: CallMonitorOptions;
  #audit: Log | undefined;
  readonly #operators = new Set<OperatorSocket>();
  readonly #shown: ShownWords;
  #begun: BegunCall | undefined;
  #mix: StereoMix | undefined;
  #stopListening: () => void = () => undefined;
  #timer: Timer | undefined;
  /** Who speaks to the caller, or is about to. */
  #holder: OperatorSocket | undefined;
  /** How much of a voice the holder has sent, since when, and when the newest of it came. */
  #voice = { since: 0, ms: 0, at: 0 };
  /** The holder is there, and the holder's microphone is not. */
  #isMuted = false;
  #words: OperatorWords | undefined;
  #told: TakeoverState = 'agent';
  #isNoticed = false;
  /** Commands that wait for their answer. */
  readonly #asked = new Map<CallCommand, (refused: MonitorRefusal | undefined) => void>();

  constructor(options: CallMonitorOptions) {
    this.#options = options;
    this.#shown = new ShownWords(options.agent.redaction);
  }

  get tenant(): string | undefined {
    return this.#options.agent.tenant;
  }

  // ---- the call ----

  begins(call: BegunCall): void {
    const { state, now } = call;
    this.#begun = call;
    this.#shown.begin({ ...state.keys, ...state.setup }, now);
    this.#told = takeoverOf(state);
  }

  stepped({ fact, orders, now, state }: CallStep): void {
    if (fact.type === 'dtmf.pressed') this.#shown.pressed(fact.digit, now);
    const answer = fact.type === 'command.given' ? this.#asked.get(fact.command) : undefined;
    for (const order of orders) {
      if (order.type !== 'told') continue;
      const { event } = order;
      if (event.type === 'command.answered') answer?.(refusalOf(event));
      this.#follow(event, now);
    }
    if (this.#told !== takeoverOf(state)) this.#tellTakeover(takeoverOf(state));
  }

  ended(): void {
    for (const operator of this.#operators) {
      operator.tell({ type: 'ended' });
      operator.close('over');
      this.#use('leaves', operator);
    }
    this.#operators.clear();
    this.#release();
    this.#rest();
    this.#options.gone();
  }

  #follow(event: ConversationEvent, now: Millis): void {
    const message = event.type === 'operator.text' ? event : conversationMessage(event);
    if (message === undefined) return;
    const at = Math.round(now - this.#options.call.startedAt);
    for (const shown of this.#shown.of(message)) this.#broadcast({ type: 'event', at, event: shown });
  }

  #broadcast(message: ToOperator): void {
    for (const operator of this.#operators) operator.tell(message);
  }

  // ---- operators ----

  /** An operator has come. */
  attach(ws: WebSocket, { role, by, tenant }: AdmittedOperator): void {
    const { clock, call } = this.#options;
    const operator = new OperatorSocket({
      ws,
      role,
      by,
      tenant,
      now: () => clock.now(),
      text: (text) => this.#take(operator, text),
      voice: (pcm) => this.#speak(operator, pcm),
      gone: () => this.#leave(operator),
      failed: (error) => call.log.error(errorFields(error), 'the connection of an operator failed'),
    });
    const begun = this.#begun;
    if (begun === undefined || this.#operators.size >= mostMonitors) {
      operator.close(begun === undefined ? 'over' : 'full');
      return;
    }
    this.#operators.add(operator);
    const { sampleRate: rate, callId } = call.start;
    operator.tell({
      type: 'ready',
      call: callId,
      role,
      rate,
      frame_ms: monitorFrameMs,
      operator_rate: operatorRate,
    });
    operator.tell(this.#takeoverFor(operator));
    this.#use('listens', operator);
    this.#listen(begun, rate);
    this.#notify(begun);
  }

  #leave(operator: OperatorSocket): void {
    if (!this.#operators.delete(operator)) return;
    this.#use('leaves', operator);
    if (operator === this.#holder) {
      this.#release();
      this.#options.call.command({ type: 'operator', does: 'leave' });
    }
    if (this.#operators.size === 0) this.#rest();
  }

  #take(operator: OperatorSocket, text: string): void {
    const read = readOperator(text);
    if (!read.ok) {
      operator.close('unreadable');
      return;
    }
    const { type, id } = read.value;
    const answer = (refused: MonitorRefusal | undefined): void => {
      if (id === undefined && refused === undefined) return;
      operator.tell({
        type: 'answer',
        ...(id !== undefined && { id }),
        ...(refused !== undefined && { refused }),
      });
    };
    if (!mayDo(operator.role, type === 'whisper' ? 'whisper' : 'take_over')) answer('forbidden');
    else this.#do(operator, read.value, answer);
  }

  #do(
    operator: OperatorSocket,
    message: FromOperator,
    answer: (refused: MonitorRefusal | undefined) => void,
  ): void {
    switch (message.type) {
      case 'whisper':
        this.#use('whispers', operator);
        this.#command(
          { type: 'edit', edit: { append: [{ role: 'system', text: whispered(message.text) }] } },
          answer,
        );
        return;
      case 'take_over':
        if (this.#holder !== undefined && this.#holder !== operator) answer('taken');
        else this.#takeOver(operator, message.at === 'once', answer);
        return;
      case 'hand_back': {
        if (this.#holder !== operator) {
          answer('not_yours');
          return;
        }
        const { note, say } = message;
        const whole = this.#words?.isLost === true ? `${note} ${wordsUnknown}` : note;
        // Words that STT has by now belong before the note.
        this.#words?.close();
        this.#use('hands back', operator);
        const isComing = takeoverOf(this.#begun?.state) === 'coming';
        if (isComing) this.#command({ type: 'operator', does: 'leave' }, answer);
        else this.#command({ type: 'operator', does: 'hand_back', note: whole, say }, answer);
        return;
      }
    }
  }

  #takeOver(
    operator: OperatorSocket,
    atOnce: boolean,
    answer: (refused: MonitorRefusal | undefined) => void,
  ): void {
    this.#holder = operator;
    this.#use('asks for the call', operator);
    this.#command({ type: 'operator', does: 'take_over', atOnce }, (refused) => {
      if (refused !== undefined) this.#release();
      answer(refused);
    });
  }

  #command(command: CallCommand, answer: (refused: MonitorRefusal | undefined) => void): void {
    this.#asked.set(command, answer);
    try {
      this.#options.call.command(command);
    } finally {
      this.#asked.delete(command);
    }
  }

  /** The holder's voice goes to the caller while the agent is silent. */
  #speak(operator: OperatorSocket, pcm: Int16Array): void {
    const now = this.#options.clock.now();
    if (operator !== this.#holder) return;
    this.#voice.at = now;
    if (this.#isMuted) this.#options.call.command({ type: 'operator', does: 'take_over', atOnce: true });
    if (this.#told !== 'operator') return;
    const ms = (pcm.length * 1000) / operatorRate;
    if (this.#voice.ms + ms > now - this.#voice.since + mostAheadMs) return;
    // A microphone that was off was silent meanwhile.
    this.#voice.ms = Math.max(this.#voice.ms, now - this.#voice.since - mostAheadMs) + ms;
    this.#begun?.person.push(pcm);
    this.#words?.audio(pcm);
  }

  #tellTakeover(state: TakeoverState): void {
    const { call, clock } = this.#options;
    const before = this.#told;
    this.#told = state;
    const wasMuted = this.#isMuted;
    this.#isMuted = wasMuted && state === 'away';
    if (state === 'agent') this.#release();
    if (state === 'operator' && before !== 'operator' && !wasMuted && this.#holder !== undefined) {
      this.#voice = { since: clock.now(), ms: 0, at: clock.now() };
      this.#words ??= new OperatorWords({
        open: call.openStt,
        said: (text) => call.command({ type: 'operator', does: 'said', text }),
      });
      this.#use('takes over', this.#holder);
    }
    for (const operator of this.#operators) operator.tell(this.#takeoverFor(operator));
  }

  #takeoverFor(operator: OperatorSocket): ToOperator {
    const holder = this.#holder;
    const by = holder === undefined || holder.by === '' ? {} : { by: holder.by };
    return { type: 'takeover', state: this.#told, yours: holder === operator, ...by };
  }

  /** Nobody speaks to the caller any more. */
  #release(): void {
    this.#holder = undefined;
    this.#isMuted = false;
    this.#words?.close();
    this.#words = undefined;
    this.#begun?.person.clear();
  }

  #use(what: MonitorUse['what'], { role, by, tenant, id: connection }: OperatorSocket): void {
    this.#audit ??= auditOf(this.#options.call.log);
    this.#audit.info(
      { what, may: role, ...(tenant !== undefined && { tenant }), ...(by !== '' && { by }) },
      'an operator and a call',
    );
    this.#options.call.monitored({ what, role, by, connection });
  }

  // ---- sound ----

  #listen({ tap }: BegunCall, rate: number): void {
    if (this.#mix !== undefined) return;
    const now = this.#options.clock.now();
    const mix = new StereoMix(rate, now);
    this.#mix = mix;
    this.#stopListening = tap.listen(
      { heard: (pcm, at) => mix.heard(pcm, at), sent: (pcm, at) => mix.sent(pcm, at) },
      now,
    );
    this.#send();
  }

  readonly #send = (): void => {
    const { clock } = this.#options;
    this.#timer = clock.after(monitorFrameMs, this.#send);
    const now = clock.now();
    for (let frame = this.#mix?.take(now); frame !== undefined; frame = this.#mix?.take(now))
      for (const operator of this.#operators) operator.sound(frame);
    for (const operator of this.#operators) operator.look();
    this.#watchMicrophone(now);
  };

  /** Nobody speaks to the caller: the agent comes back, unless the microphone does so first. */
  #watchMicrophone(now: Millis): void {
    if (this.#holder === undefined || this.#told !== 'operator') return;
    if (now - this.#voice.at < microphoneGoneMs) return;
    this.#isMuted = true;
    this.#options.call.command({ type: 'operator', does: 'leave' });
  }

  #rest(): void {
    this.#timer?.cancel();
    this.#stopListening();
    this.#mix = undefined;
  }

  /** Callers are told once, also where another worker has had the call. */
  #notify({ state }: BegunCall): void {
    const {
      agent: { notice },
      call,
    } = this.#options;
    if (notice === '' || this.#isNoticed) return;
    this.#isNoticed = true;
    const { messages } = state.conversation.history;
    const wasTold = messages.some(({ role, text }) => role === 'assistant' && text.includes(notice));
    if (!wasTold) call.command({ type: 'say', text: notice, interrupt: false, interruptible: false });
  }
}

function takeoverOf(state: CallState | undefined): TakeoverState {
  if (state === undefined || state.operator.phase === 'none') return 'agent';
  if (state.operator.phase === 'coming') return 'coming';
  return state.operator.by === undefined ? 'operator' : 'away';
}

function refusalOf({
  outcome,
}: Extract<ConversationEvent, { type: 'command.answered' }>): MonitorRefusal | undefined {
  if (outcome.kind !== 'refused') return undefined;
  return outcome.code === 'queue_full' ? 'queue_full' : 'call_ending';
}
