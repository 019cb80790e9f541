/**
 * Two supervisors in one process, with the channel between them under the test's control: what the old one knows the new one
 * knows, whatever happens meanwhile, and every arrival is judged once.
 */
import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import {
  readToPredecessor,
  readToSuccessor,
  takeoverVersion,
  type ToSuccessor,
} from '../../../shared/protocol/takeover.ts';
import { Admission } from '../../../supervisor/admission/admission.ts';
import { CallLedger } from '../../../supervisor/admission/call-ledger.ts';
import type { Arrived } from '../../../supervisor/listeners/listeners.ts';
import { Predecessor, type ParentChannel } from '../../../supervisor/restart/predecessor.ts';
import { Succession } from '../../../supervisor/restart/succession.ts';
import type { SuccessorEvents, SuccessorProcess } from '../../../supervisor/restart/successor.ts';
import { TokenLedger } from '../../../supervisor/admission/token-ledger.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

const nowS = 1_800_000_000;
const limits = { maxSessions: 1_000, acceptQueue: 100 };

/** What a supervisor remembers. */
class Books {
  readonly admission = new Admission(limits);
  readonly tokens = new TokenLedger();
  readonly callLedger: CallLedger;

  constructor(clock: VirtualClock) {
    this.callLedger = new CallLedger({
      clock,
      admission: this.admission,
      providerLimits: new Map([['llm', { sessions: 100, rpm: 1_000 }]]),
      providers: () => ['llm', 'tts'],
      maxCallsPerAddress: 3,
      released: () => undefined,
      carriedChanged: () => undefined,
    });
  }

  /** All of it, for comparison. */
  get content(): unknown {
    return {
      tokens: [...this.tokens.entries()].toSorted(),
      calls: [...this.callLedger.calls].map(({ address }) => address).toSorted(),
      connections: this.admission.connections,
      requests: [...this.callLedger.recentRequests()],
    };
  }
}

/** The old supervisor, the new one, and what lies on the channel between them. */
class Change {
  readonly clock = newVirtualClock();
  readonly old = new Books(this.clock);
  readonly fresh = new Books(this.clock);
  readonly judged: string[] = [];
  readonly logged: string[] = [];
  readonly left: number[] = [];
  killed = 0;
  took = 0;
  tookAlone = false;
  failed: string | undefined;
  readonly succession: Succession;
  predecessor: Predecessor | undefined;
  /** Messages to the new supervisor that it has not read yet; undefined: they are read at once. */
  delayed: unknown[] | undefined;
  /** Arrivals that were given to the new supervisor; `false` refuses them as a broken channel does. */
  readonly given: Extract<ToSuccessor, { type: 'arrival' }>[] = [];
  isBroken = false;
  isGone = false;
  #events: SuccessorEvents | undefined;
  #read: (message: unknown, handle: unknown) => void = () => undefined;
  gone: () => void = () => undefined;

  constructor() {
    const note = (_fields: object, sentence: string): void => void this.logged.push(sentence);
    this.succession = new Succession({
      clock: this.clock,
      log: { info: note, warn: note, error: note },
      timeoutMs: 60_000,
      callLedger: this.old.callLedger,
      tokens: this.old.tokens,
      start: (events) => this.#start(events),
      listeners: () => new Map([['websocket', createServer()]]),
      judge: ({ arrival }) => void this.judged.push(arrival.head.url),
      leave: (pid) => void this.left.push(pid),
      stops: () => void this.left.push(-2),
      hurry: () => void this.left.push(-1),
    });
  }

  /** What the new supervisor says. */
  says(message: unknown): void {
    const read = readToPredecessor(message);
    if (read.ok && read.value.type !== 'failed') this.#events?.said(read.value);
  }

  dies(): void {
    this.#events?.failed('it died');
  }

  deliver(): void {
    const messages = this.delayed?.splice(0) ?? [];
    for (const message of messages) this.#read(message, undefined);
  }

  #send(message: ToSuccessor): void {
    // As JSON, as on the channel.
    const copy: unknown = JSON.parse(JSON.stringify(message));
    expect(readToSuccessor(copy).ok).toBe(true);
    if (this.delayed === undefined) this.#read(copy, undefined);
    else this.delayed.push(copy);
  }

  #start(events: SuccessorEvents): SuccessorProcess {
    this.#events = events;
    const channel: ParentChannel = {
      isOpen: () => !this.isGone,
      send: (message, sent) => {
        this.says(message);
        sent();
      },
      onMessage: (take) => (this.#read = take),
      onGone: (gone) =>
        (this.gone = () => {
          this.isGone = true;
          gone();
        }),
    };
    this.predecessor = new Predecessor({
      channel,
      callLedger: this.fresh.callLedger,
      tokens: this.fresh.tokens,
      isServing: () => true,
      open: () => Promise.resolve(),
      bindRest: () => Promise.resolve(),
      arrived: () => undefined,
      took: ({ alone }) => {
        this.took += 1;
        this.tookAlone = alone;
      },
      failed: (reason) => (this.failed = reason),
    });
    return {
      pid: 4711,
      send: (message) => this.#send(message),
      giveListener: () => undefined,
      giveSocket: () => undefined,
      giveArrival: (message, _socket, gone) => {
        if (!this.isBroken) this.given.push(message);
        gone(!this.isBroken);
      },
      kill: () => (this.killed += 1),
    };
  }
}

const arrivalAt = (url: string): Arrived => ({
  arrival: { listener: 'page', method: 'GET', head: { url, headers: { host: 'x' } }, peer: '192.0.2.1' },
  socket: new Socket(),
  bytes: Buffer.from('early'),
});

/** Lets promises of the new supervisor settle. */
const settled = (): Promise<void> => new Promise((resolve) => new PassThrough().end(resolve).resume());

describe('the books of the old supervisor', () => {
  it('are those of the new one when it takes over, whatever changed during the copy', async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const change = new Change();
      const { clock, old } = change;
      const prng = newPrng(seed);
      const below = (most: number): number => Math.floor(prng.next() * most);
      const releases: (() => void)[] = [];
      let last = 0;
      const something = (): void => {
        switch (below(5)) {
          case 0:
            old.tokens.use({ sid: `sid-${(last += 1)}`, expS: nowS + 60 + below(600), nowS });
            return;
          case 1:
            old.tokens.release(`sid-${1 + below(last + 1)}`);
            return;
          case 2: {
            const release = old.callLedger.take(`192.0.2.${below(200)}`, 'websocket');
            if (release !== undefined) releases.push(release);
            return;
          }
          case 3:
            releases.splice(below(releases.length), 1)[0]?.();
            return;
          default:
            old.callLedger.requested('llm', 1 + below(3));
        }
      };
      for (let i = 0; i < below(6_000); i += 1) something();
      clock.advance(below(70_000));
      for (let i = 0; i < below(300); i += 1) something();

      change.delayed = [];
      change.succession.ask(undefined);
      change.predecessor?.prepared();
      for (let round = 0; round < 8; round += 1) {
        for (let i = 0; i < 20; i += 1) something();
        clock.advance(0);
        if (below(2) === 0) change.deliver();
      }
      change.deliver();
      await settled();
      // The listeners were given; what the old one still finishes is told as well.
      releases[0]?.();
      old.tokens.release('sid-1');
      change.deliver();
      await settled();
      change.deliver();
      await settled();
      expect(change.took).toBe(1);
      expect(change.left).toEqual([4711]);
      expect(change.fresh.content).toEqual(old.content);
    }
  });

  it('count for the new one until their calls are over, or until the old one is gone', async () => {
    const change = new Change();
    const [first, second] = [
      change.old.callLedger.take('192.0.2.1', 'websocket'),
      change.old.callLedger.take('192.0.2.1', 'websocket'),
    ];
    change.succession.ask(undefined);
    change.predecessor?.prepared();
    change.clock.advance(0);
    await settled();
    expect([change.took, change.fresh.admission.connections, change.fresh.callLedger.own]).toEqual([1, 2, 0]);
    expect(change.fresh.callLedger.take('192.0.2.1', 'websocket')).toBeDefined();
    expect(change.fresh.callLedger.take('192.0.2.1', 'websocket')).toBeUndefined();
    first?.();
    first?.();
    expect(change.fresh.admission.connections).toBe(2);
    expect(change.fresh.callLedger.take('192.0.2.1', 'websocket')).toBeDefined();
    change.gone();
    expect(change.fresh.admission.connections).toBe(2);
    second?.();
    expect([change.fresh.admission.connections, change.failed]).toEqual([2, undefined]);
  });
});

describe('an arrival', () => {
  /** A change that has come to the moment at which the listeners change hands. */
  function handing(): Change {
    const change = new Change();
    change.delayed = [];
    change.succession.ask(undefined);
    change.says({ type: 'prepared', version: takeoverVersion });
    change.succession.arrived(arrivalAt('/while-copying'));
    change.says({ type: 'copied' });
    return change;
  }

  it('is judged by the old one during the copy, waits while the listeners change hands, and travels after that', () => {
    const change = handing();
    expect(change.judged).toEqual(['/while-copying']);
    change.succession.arrived(arrivalAt('/waiting'));
    expect([change.judged.length, change.given.length, change.succession.isBusy]).toEqual([1, 0, true]);
    change.says({ type: 'took' });
    change.succession.arrived(arrivalAt('/later'));
    expect(change.given.map(({ url }) => url)).toEqual(['/waiting', '/later']);
    expect(change.given[0]).toEqual({
      type: 'arrival',
      listener: 'page',
      method: 'GET',
      url: '/waiting',
      headers: { host: 'x' },
      bytes: Buffer.from('early').toString('base64'),
      peer: '192.0.2.1',
    });
    expect([change.judged.length, change.succession.isBusy]).toEqual([1, false]);
  });

  it.each([
    ['dies', (change: Change) => change.dies()],
    ['does not answer', (change: Change) => change.clock.advance(5_000)],
  ])('that waits is judged by the old one when the new one %s', (_name, fail) => {
    const change = handing();
    change.succession.arrived(arrivalAt('/waiting'));
    fail(change);
    expect(change.judged).toEqual(['/while-copying', '/waiting']);
    expect([change.killed, change.left]).toEqual([1, []]);
    expect(change.logged.at(-1)).toBe('restart: given up, this supervisor goes on as before');
    change.succession.arrived(arrivalAt('/after'));
    expect(change.judged.at(-1)).toBe('/after');
    change.succession.ask(undefined);
    expect(change.logged.at(-1)).toBe('restart: a new supervisor starts');
  });

  it('is answered by the old one when the new one is gone after it took over', () => {
    const change = handing();
    change.says({ type: 'took' });
    change.isBroken = true;
    change.dies();
    change.succession.arrived(arrivalAt('/lost'));
    expect(change.judged.at(-1)).toBe('/lost');
    expect(change.logged.at(-1)).toBe('restart: the new supervisor is gone while this one drains');
  });
});

describe('a successor', () => {
  it('that speaks another version of the hand-over is given up', () => {
    const change = new Change();
    change.succession.ask(undefined);
    change.says({ type: 'prepared', version: takeoverVersion + 1 });
    expect([change.killed, change.succession.isOver]).toEqual([1, false]);
  });

  it('that is given up is told nothing more', () => {
    const change = new Change();
    change.succession.ask(undefined);
    change.predecessor?.prepared();
    change.dies();
    const before = change.fresh.content;
    change.old.tokens.use({ sid: 'later', expS: nowS + 60, nowS });
    change.old.callLedger.take('192.0.2.1', 'websocket');
    change.clock.advance(1_000);
    expect(change.fresh.content).toEqual(before);
  });

  it.each(['starting', 'copying'] as const)('serves alone when the old one dies while %s', async (phase) => {
    const change = new Change();
    change.delayed = [];
    change.succession.ask(undefined);
    const call = change.old.callLedger.take('192.0.2.1', 'websocket');
    if (phase === 'copying') change.predecessor?.prepared();
    change.clock.advance(0);
    const copied = change.delayed?.splice(0) ?? [];
    change.gone();
    if (phase === 'starting') change.predecessor?.prepared();
    change.delayed = copied;
    change.deliver();
    await settled();
    expect([change.took, change.tookAlone, change.failed]).toEqual([1, true, undefined]);
    // Calls of a process that is gone hold nothing.
    expect([call === undefined, change.fresh.admission.connections]).toEqual([false, 0]);
  });
});
