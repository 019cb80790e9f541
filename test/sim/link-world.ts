/**
 * One call with an agent process in virtual time: the machine of the link and the core's tool machine as they are, and around them a
 * network that drops connections with what is on its way, an agent that is slow, answers out of order and twice, and a worker that
 * may die. The judge keeps books of its own.
 */
import { newPrng, type Prng } from '../../shared/base/prng.ts';
import type { CallCommand } from '../../worker/core/commands.ts';
import { stepLink } from '../../worker/agent-link/link.ts';
import {
  newLink,
  resumedLink,
  saveLink,
  type LinkInput,
  type LinkAction,
  type LinkState,
  type SavedLink,
} from '../../worker/agent-link/link-state.ts';
import { nextToolDeadline, stepTools } from '../../worker/core/tools/tools.ts';
import { resumeTools, takeAtSafePoint } from '../../worker/core/tools/tools-cut.ts';
import {
  newToolState,
  type ToolEvent,
  type ToolAction,
  type ToolSettings,
} from '../../worker/core/tools/tools-state.ts';
import { OrderJudge } from './link-order.ts';
import { linkSettings } from '../support/link-driver.ts';

const callMs = 90_000;
const tickMs = 50;
/** No new round in the last part of a call: everything that was asked must have its outcome by then. */
const quietMs = 45_000;

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

const toolSettings: ToolSettings = {
  maxRounds: 1_000,
  fillerAfterMs: 1_500,
  ruleOf: (name) => ({
    kind: name === 'book' ? 'side_effect' : 'read_only',
    timeoutMs: 5_000,
    fillerAfterMs: 0,
    confirm: false,
    repeatable: false,
  }),
  validate: (_name, text) => ({ ok: true, canonical: text }),
};

export interface LinkReport {
  readonly violations: string[];
  readonly counts: ReadonlyMap<string, number>;
}

class LinkWorld {
  readonly #random: Prng;
  readonly violations: string[] = [];
  readonly counts = new Map<string, number>();
  #now = 0;
  readonly #agenda: { readonly at: number; readonly act: () => void }[] = [];
  // the service
  #link: LinkState = newLink(linkSettings, 0);
  #tools = newToolState('c1');
  #epoch = 1;
  #startedAt: number | undefined;
  readonly #runs = new Map<
    number,
    { readonly key: number; readonly attempt: number; readonly callId: string }
  >();
  readonly #asked = new Set<string>();
  readonly #paired = new Map<string, number>();
  readonly #given = new Map<string, number>();
  // the network
  #connection = 0;
  #isUp = false;
  /** Since when the service does not read what the agent sends; what was read at that moment still arrives. */
  #unreadSince = Number.POSITIVE_INFINITY;
  /** Number of the newest message when the call was last written down. */
  #savedSeq = 0;
  // the agent
  readonly #accepts: boolean;
  readonly #resumes: boolean;
  #seen = { seq: 1, isOfOpening: false };
  #resumed: { readonly previous: number; readonly last: number } | undefined;
  readonly #known = new Set<number>();
  readonly #done = new Map<string, number>();
  #sentCommands = 0;
  #flooded = 0;
  /** Lines of floods that reached the service. */
  #arrivedOfFlood = 0;
  #countOfFlood = 0;
  #doneOfFlood = 0;
  #told = 0;
  readonly #heardInOrder = new OrderJudge((rule) => this.#violated(rule));

  constructor(seed: number) {
    this.#random = newPrng(seed);
    this.#accepts = this.#random.chance(0.9);
    this.#resumes = this.#random.chance(0.7);
  }

  run(): LinkReport {
    this.#fact({ type: 'call.began' });
    this.#tick();
    for (let at = this.#random.below(4_000); at < quietMs; at += 500 + this.#random.below(4_000))
      this.#later(at, () => this.#round());
    for (let at = this.#random.below(20_000); at < callMs; at += 3_000 + this.#random.below(30_000))
      this.#later(at, () => this.#drop('the network'));
    if (this.#random.chance(0.3)) this.#later(this.#random.below(40_000), () => this.#flood());
    if (this.#random.chance(0.3)) this.#later(5_000 + this.#random.below(30_000), () => this.#die());
    this.#later(callMs, () => this.#end());
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#now = next.at;
      next.act();
    }
    return { violations: this.violations, counts: this.counts };
  }

  #count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  #violated(rule: string): void {
    this.violations.push(`at ${this.#now} ms: ${rule}`);
  }

  #later(at: number, act: () => void): void {
    this.#agenda.push({ at: Math.max(at, this.#now), act });
  }

  #next() {
    let first = 0;
    for (let at = 1; at < this.#agenda.length; at += 1)
      if ((this.#agenda[at]?.at ?? 0) < (this.#agenda[first]?.at ?? 0)) first = at;
    return this.#agenda.splice(first, 1)[0];
  }

  // ---- the service ----

  #fact(fact: LinkInput): void {
    // A slow agent now and then; a hopeless one rarely.
    const bufferedBytes = this.#random.chance(0.05)
      ? this.#random.below(this.#random.chance(0.01) ? 2_000_000 : 400_000)
      : 0;
    for (const order of stepLink(this.#link, fact, { now: this.#now, bufferedBytes })) this.#perform(order);
    if (this.#link.phase.type === 'gone' && this.#runs.size > 0)
      this.#violated('a link that is gone leaves no tool call waiting');
  }

  #perform(order: LinkAction): void {
    switch (order.type) {
      case 'connect':
        this.#dial();
        return;
      case 'send':
        this.#deliver(JSON.parse(order.text) as Message);
        return;
      case 'read':
        this.#unreadSince = order.isOn ? Number.POSITIVE_INFINITY : this.#now;
        return;
      case 'close':
        this.#isUp = false;
        this.#connection += 1;
        return;
      case 'call.prepared':
        if (this.#startedAt !== undefined) this.#violated('the call starts once');
        this.#startedAt = this.#now;
        if (this.#now > 4_000 + tickMs) this.#violated('the caller waits no longer than both timeouts');
        return;
      case 'command':
        if (order.id === 'agent') this.#floodDone(order.command);
        else this.#command(order.id);
        return;
      case 'tool.settled': {
        const run = this.#runs.get(order.id);
        if (run === undefined) this.#violated(`tool call ${order.id} is settled once`);
        this.#runs.delete(order.id);
        const { outcome } = order;
        this.#count(outcome.kind);
        if (outcome.kind === 'result' && outcome.text !== run?.callId)
          this.#violated('a result is of its call');
        // As the runner does: never from inside the order to run.
        if (run !== undefined) {
          const { key, attempt } = run;
          this.#later(this.#now, () => this.#tool({ type: 'tool.settled', key, attempt, outcome }));
        }
        return;
      }
      case 'news':
        this.#count(order.news);
        return;
      default:
    }
  }

  #tick(): void {
    if (this.#now < callMs) this.#later(this.#now + tickMs, () => this.#tick());
    if (this.#now % 500 === 0) this.#savedSeq = this.#link.outbox.seq;
    this.#fact({ type: 'time.passed' });
    const due = nextToolDeadline(this.#tools);
    if (due !== undefined && due <= this.#now) this.#tool({ type: 'deadline.reached' });
    if (!this.#random.chance(0.05)) return;
    this.#told += 1;
    const type = this.#random.pick(['bot.text', 'user.text'] as const);
    this.#fact({ type: 'told', event: { type, epoch: 1, text: OrderJudge.event(this.#told) } });
  }

  #round(): void {
    if (this.#startedAt === undefined) return;
    if (this.#random.chance(0.3)) {
      this.#epoch += 1;
      this.#tool({ type: 'epoch.moved', epoch: this.#epoch });
      this.#collect();
      this.#fact({ type: 'told', event: { type: 'turn.interrupted', epoch: this.#epoch } });
    }
    if (this.#tools.round !== undefined) return;
    const calls = Array.from({ length: 1 + this.#random.below(3) }, (_, at) => ({
      id: `r${this.#asked.size + at}`,
      name: this.#random.pick(['book', 'find']),
      arguments: `{"n":${this.#random.below(4)}}`,
    }));
    for (const { id } of calls) this.#asked.add(id);
    this.#tool({
      type: 'round.completed',
      epoch: this.#epoch,
      finish: 'tool_calls',
      offered: ['book', 'find'],
      calls,
    });
  }

  #tool(event: ToolEvent): void {
    this.#order(stepTools(this.#tools, event, { settings: toolSettings, now: this.#now }));
  }

  #order(orders: readonly ToolAction[]): void {
    for (const order of orders) {
      if (order.type === 'tool.run') {
        const { key, attempt, call, epoch, idempotencyKey, timeoutMs } = order;
        this.#runs.set(this.#link.nextCall, { key, attempt, callId: call.id });
        this.#fact({
          type: 'tool.run',
          call: {
            call_id: call.id,
            name: call.name,
            arguments: {},
            kind: toolSettings.ruleOf(call.name)?.kind ?? 'read_only',
            epoch,
            idempotency_key: idempotencyKey,
            timeout_ms: timeoutMs,
          },
        });
      } else if (order.type === 'tool.abandon') {
        for (const [id, { key }] of [...this.#runs]) {
          if (key !== order.key) continue;
          this.#runs.delete(id);
          this.#count('abandoned');
          this.#fact({ type: 'tool.abandoned', id, reason: order.reason });
        }
      } else if (order.type === 'round.next' || order.type === 'rounds.exhausted') {
        for (const { call } of order.pairs) this.#pair(call.id);
      }
    }
  }

  #collect(): void {
    for (const { call } of takeAtSafePoint(this.#tools).pairs) this.#pair(call.id);
  }

  #pair(id: string): void {
    this.#paired.set(id, (this.#paired.get(id) ?? 0) + 1);
  }

  #floodDone(command: CallCommand): void {
    const number = command.type === 'say' ? Number(command.text) : 0;
    if (number <= this.#doneOfFlood) this.#violated(`line ${number} of a flood is done once and in order`);
    this.#doneOfFlood = number;
    this.#countOfFlood += 1;
  }

  /** The core answers each command once, some time later. */
  #command(id: string): void {
    const times = (this.#given.get(id) ?? 0) + 1;
    this.#given.set(id, times);
    if (times > 1) this.#violated(`command ${id} is done once`);
    const outcome = this.#random.chance(0.8) ? ({ kind: 'done' } as const) : ({ kind: 'dropped' } as const);
    this.#later(this.#now + this.#random.below(3_000), () =>
      this.#fact({ type: 'told', event: { type: 'command.answered', id, command: 'say', outcome } }),
    );
  }

  /** Another worker goes on with what was written down. */
  #die(): void {
    if (this.#startedAt === undefined || this.#link.phase.type === 'over') return;
    this.#count('died');
    const whole = JSON.parse(JSON.stringify(saveLink(this.#link))) as SavedLink;
    // Messages may have been written after the last save.
    const saved = { ...whole, seq: Math.min(whole.seq, this.#savedSeq) };
    this.#isUp = false;
    this.#connection += 1;
    this.#runs.clear();
    this.#link = resumedLink(linkSettings, this.#link.terms, { saved, downMs: 0, now: this.#now });
    this.#order(resumeTools(this.#tools, { settings: toolSettings, now: this.#now }));
  }

  #end(): void {
    this.#collect();
    for (const id of this.#asked)
      if (this.#paired.get(id) !== 1) this.#violated(`call ${id} has ${this.#paired.get(id) ?? 0} outcomes`);
    if (this.#runs.size > 0) this.#violated('a tool run is left without an outcome');
    if (this.#startedAt === undefined) this.#violated('the call was lost');
    const { waiting, kept } = this.#link.outbox;
    if (waiting.length > 100 || kept.length > 64) this.#violated('what is kept is bounded');
    const isKept = this.counts.get('gone') === undefined && this.counts.get('died') === undefined;
    if (isKept && this.#countOfFlood !== this.#arrivedOfFlood) this.#violated('all that was sent is done');
    this.#fact({ type: 'call.ended', reason: 'hangup' });
    const { arrived, lost } = this.#heardInOrder;
    this.#count('told', this.#told);
    this.#count('arrived', arrived);
    this.#count('lost', lost);
  }

  // ---- the network ----

  #dial(): void {
    this.#connection += 1;
    const own = this.#connection;
    this.#unreadSince = Number.POSITIVE_INFINITY;
    const isOpen = this.#random.chance(0.8);
    const afterMs = this.#random.chance(0.3) ? 1_000 + this.#random.below(3_000) : this.#random.below(300);
    this.#later(this.#now + afterMs, () => {
      if (own !== this.#connection) return;
      this.#isUp = isOpen;
      this.#fact(isOpen ? { type: 'socket.opened' } : { type: 'socket.closed', why: 'refused' });
    });
  }

  #drop(why: string): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.#connection += 1;
    this.#fact({ type: 'socket.closed', why });
  }

  /** To the agent, in order, unless the connection breaks on the way. */
  #deliver(message: Message): void {
    const own = this.#connection;
    this.#later(this.#now + 40, () => {
      if (own === this.#connection) this.#heard(message, own);
    });
  }

  #reply(afterMs: number, message: Message): void {
    this.#later(this.#now + afterMs, () => {
      if (!this.#isUp) {
        // An agent that resumes keeps its answer until there is a link.
        if (this.#resumes && this.#now < callMs) this.#reply(500, message);
        return;
      }
      // What nobody reads waits in the network.
      if (this.#now > this.#unreadSince) this.#reply(tickMs, message);
      else {
        if (message.type === 'say' && message['id'] === undefined && this.#link.phase.type === 'active')
          this.#arrivedOfFlood += 1;
        this.#fact({ type: 'text.received', text: JSON.stringify(message) });
      }
    });
  }

  // ---- the agent ----

  #heard(message: Message, connection: number): void {
    // A replay begins behind the newest that an agent says it saw; one that says nothing gets none.
    this.#heardInOrder.hear(message, connection);
    const resume = message['resume'] as { readonly previous_seq: number } | undefined;
    if (message.type !== 'session.start') this.#seen = { seq: Number(message['seq']), isOfOpening: false };
    else if (resume === undefined) {
      if (this.#accepts)
        this.#reply(this.#random.below(2_200), { type: 'session.accept', version: 1, resume: this.#resumes });
    } else {
      // A link of which nothing but its opening was seen was no link for the service where it names the same one before it.
      const isSame = this.#seen.isOfOpening && this.#resumed?.previous === resume.previous_seq;
      const last_seq = isSame ? this.#resumed?.last : this.#seen.seq;
      this.#resumed = { previous: resume.previous_seq, last: last_seq ?? 0 };
      this.#seen = { seq: 1, isOfOpening: true };
      const answer = this.#random.chance(0.05)
        ? { type: 'session.reject' }
        : { type: 'session.accept', version: 1 };
      this.#reply(this.#random.below(500), {
        ...answer,
        ...(this.#random.chance(0.7) && { last_seq }),
      });
    }
    if (message.type === 'tool.call') this.#runTool(message);
    if (this.#random.chance(0.2) && this.#sentCommands < 40) this.#say();
  }

  /** A loop that does not wait. */
  #flood(): void {
    for (let count = 0; count < 250; count += 1) {
      this.#flooded += 1;
      this.#reply(0, { type: 'say', text: String(this.#flooded) });
    }
  }

  #say(): void {
    const id = this.#random.chance(0.3) ? `s${this.#random.below(10)}` : `u${this.#sentCommands}`;
    this.#sentCommands += 1;
    this.#reply(this.#random.below(1_000), { type: 'say', id, text: 'Hello.' });
  }

  #runTool(call: Message): void {
    const id = Number(call['id']);
    if (this.#known.has(id)) return;
    this.#known.add(id);
    if (call['kind'] === 'side_effect') {
      const key = String(call['idempotency_key']);
      const times = (this.#done.get(key) ?? 0) + 1;
      this.#done.set(key, times);
      if (times > 1) this.#violated(`the effect of call ${String(call['call_id'])} happens once`);
      this.#count('effect');
    }
    const answer = this.#random.chance(0.1) ? { error: 'no' } : { result: String(call['call_id']) };
    const times = this.#random.chance(0.1) ? 2 : 1;
    for (let at = 0; at < times; at += 1)
      this.#reply(this.#random.below(7_000), { type: 'tool.result', id, ...answer });
  }
}

export const runLinkWorld = (seed: number): LinkReport => new LinkWorld(seed).run();
