/** Connections between the supervisor and its workers: every one has an owner, and each slot is given back exactly once. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { stopReading } from '../../../shared/runtime/reading.ts';
import { HandOver } from '../../../supervisor/handover/hand-over.ts';
import type { LeftRecord } from '../../../supervisor/handover/left-records.ts';
import { takeUpAtOnce } from '../../../supervisor/handover/worker-for.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { upgradeRequest } from '../../support/upgrade-request.ts';

function newWorld(ready: number[] = [0], keepsCalls = false) {
  const clock = newVirtualClock();
  const offers: { worker: number; offer: number }[] = [];
  const counts = { taken: 0, moved: 0, lost: 0, resumed: 0, cut: 0, blamed: 0 };
  const leftRecords = new Map<number, LeftRecord>();
  const world = {
    ready,
    reachable: true,
    stopping: false,
    released: 0,
    counts,
    leftRecords,
    resumeFrom: [] as unknown[],
    /** Workers that were told that they have all, and how many offers had been made by then. */
    allGiven: [] as { worker: number; offers: number }[],
    forgotten: [] as { slot: number; offer: number }[],
  };
  const handOver = new HandOver({
    clock,
    readyWorkers: () => world.ready,
    offer: (worker, message) => {
      if (world.reachable) offers.push({ worker, offer: message.offer });
      if (message.resumeFrom !== undefined) world.resumeFrom.push(message.resumeFrom);
      return world.reachable;
    },
    allGiven: (worker) => world.allGiven.push({ worker, offers: offers.length }),
    keepsCalls,
    records: { leftBy: () => leftRecords, forget: (slot, offer) => world.forgotten.push({ slot, offer }) },
    isStopping: () => world.stopping,
    counted: (outcome) => (world.counts[outcome] += 1),
  });
  const give = (): Socket => {
    const socket = new Socket();
    handOver.give(socket, upgradeRequest, () => (world.released += 1));
    return socket;
  };
  return { clock, offers, world, handOver, give };
}

describe('what is taken for a call', () => {
  /** How it is given back. */
  const given = () => {
    const world = newWorld([0]);
    const ends: unknown[] = [];
    world.handOver.give(new Socket(), upgradeRequest, (end) => ends.push(end?.isUnused));
    return { ...world, ends };
  };

  it('was used by a call that is over', () => {
    const { handOver, ends } = given();
    handOver.taken(1);
    handOver.over(1);
    expect(ends).toEqual([false]);
  });

  it('was not used where the worker had no room for the call', () => {
    const { handOver, ends } = given();
    handOver.taken(1);
    handOver.busy(1);
    expect(ends).toEqual([]);
    handOver.over(1);
    handOver.busy(1);
    expect(ends).toEqual([true]);
  });

  it('was not used where no worker came', () => {
    const { handOver, ends, world, clock } = given();
    world.ready = [];
    handOver.workerGone(0);
    clock.advance(10_001);
    handOver.retry();
    expect(ends).toEqual([true]);
  });
});

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A connection with bytes that nobody has read yet, and what its client hears until it is closed. */
async function connected({ allowHalfOpen = false } = {}): Promise<{
  socket: Socket;
  heard: Buffer[];
  over: Promise<unknown>;
}> {
  const server = createServer().listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen });
  const [socket] = (await once(server, 'connection')) as [Socket];
  // As the listener leaves it.
  stopReading(socket);
  client.write(Buffer.alloc(100_000));
  const heard: Buffer[] = [];
  client.on('data', (chunk: Buffer) => heard.push(chunk));
  return { socket, heard, over: once(client, 'close') };
}

describe('the hand-over', () => {
  it('keeps its duplicate until the worker confirms, and the slot until the call is over', () => {
    const { handOver, give, offers, world } = newWorld();
    const socket = give();
    expect([offers, handOver.waiting, handOver.open, socket.destroyed]).toEqual([
      [{ worker: 0, offer: 1 }],
      1,
      1,
      false,
    ]);
    handOver.taken(1);
    expect([handOver.waiting, handOver.open, socket.destroyed, world.released]).toEqual([0, 1, true, 0]);
    handOver.over(1);
    expect([handOver.open, world.released, world.counts]).toEqual([
      0,
      1,
      { taken: 1, moved: 0, lost: 0, resumed: 0, cut: 0, blamed: 0 },
    ]);
  });

  it('tells how long the oldest connection has waited for its confirmation', () => {
    const { handOver, give, clock } = newWorld();
    expect(handOver.oldestWaitMs()).toBe(0);
    give();
    clock.advance(300);
    give();
    clock.advance(100);
    expect(handOver.oldestWaitMs()).toBe(400);
    handOver.taken(1);
    expect(handOver.oldestWaitMs()).toBe(100);
    handOver.taken(2);
    expect(handOver.oldestWaitMs()).toBe(0);
  });

  it('gives each connection to the worker with the fewest', () => {
    const { give, offers, handOver } = newWorld([0, 1, 2]);
    for (let i = 0; i < 6; i += 1) give();
    expect(offers.map(({ worker }) => worker)).toEqual([0, 1, 2, 0, 1, 2]);
    handOver.over(2);
    handOver.over(5);
    give();
    expect(offers.at(-1)?.worker).toBe(1);
  });

  it.each([
    ['one that waits takes all of them', [1, 2], [0, 50]],
    ['where none waits, the others share them', [1, 3], [25, 25]],
  ] as const)('the calls of a dead worker go where fewest are: %s', (_case, left, expected) => {
    const { give, offers, handOver, world } = newWorld([0, 1, 3], true);
    for (let id = 1; id <= 150; id += 1) {
      give();
      handOver.taken(id);
    }
    const lost = offers.filter(({ worker }) => worker === 0).map(({ offer }) => offer);
    for (const [slot, offer] of lost.entries()) world.leftRecords.set(offer, { slot, connection: 'open' });
    world.ready = [...left];
    handOver.workerGone(0);
    for (let next = 150; next < offers.length; next += 1) handOver.taken(offers[next]?.offer ?? 0);
    const takers = offers.slice(150).map(({ worker }) => worker);
    expect(left.map((worker) => takers.filter((taker) => taker === worker).length)).toEqual(expected);
  });

  /** A worker that dies with so many calls, each of which can be gone on with. */
  function deathWith(calls: number, others: number[]): ReturnType<typeof newWorld> {
    const made = newWorld([0], true);
    for (let id = 1; id <= calls; id += 1) {
      made.give();
      made.handOver.taken(id);
      made.world.leftRecords.set(id, { slot: id, connection: 'open' });
    }
    made.world.ready = others;
    made.offers.length = 0;
    made.handOver.workerGone(0);
    return made;
  }

  it('sends a worker no more calls to take up than it does at once: the rest follow what it confirms', () => {
    const { handOver, offers, world } = deathWith(80, [1]);
    expect(offers).toHaveLength(takeUpAtOnce);
    for (let next = 0; next < 80 - takeUpAtOnce; next += 1) {
      expect([offers.length, world.allGiven]).toEqual([takeUpAtOnce + next, []]);
      handOver.taken(offers[next]?.offer ?? 0);
    }
    expect([offers.length, world.allGiven]).toEqual([80, [{ worker: 1, offers: 80 }]]);
    expect(handOver.moving).toBe(takeUpAtOnce);
  });

  it('leaves what a worker has not begun to take up to one that starts meanwhile', () => {
    const { handOver, offers, world } = deathWith(40, [1]);
    world.ready = [1, 2];
    handOver.retry();
    expect(offers.slice(takeUpAtOnce).map(({ worker }) => worker)).toEqual(
      Array.from({ length: takeUpAtOnce }, () => 2),
    );
    for (let next = 0; next < offers.length; next += 1) handOver.taken(offers[next]?.offer ?? 0);
    expect([1, 2].map((worker) => offers.filter((offer) => offer.worker === worker).length)).toEqual([
      20, 20,
    ]);
    expect(world.allGiven.map(({ worker }) => worker)).toEqual([1, 2]);
  });

  it('gives what a worker was not sent yet to another one when that worker dies, too', () => {
    const { handOver, offers, world } = deathWith(40, [1]);
    // It had taken up none of them: their first records hold.
    world.leftRecords.clear();
    world.ready = [2];
    offers.length = 0;
    handOver.workerGone(1);
    for (let next = 0; next < offers.length; next += 1) handOver.taken(offers[next]?.offer ?? 0);
    expect(new Set(offers.map(({ offer }) => offer)).size).toBe(40);
    expect([handOver.waiting, handOver.open]).toEqual([0, 40]);
  });

  it('has every call taken up in turn where each worker dies after its first few, and gives none up', () => {
    const { handOver, offers, world, clock } = deathWith(5 * takeUpAtOnce, [1]);
    const begun: number[] = [];
    for (let worker = 1; worker <= 10; worker += 1) {
      const given = offers.splice(0).map(({ offer }) => offer);
      expect(given).toHaveLength(takeUpAtOnce);
      begun.push(...given);
      clock.advance(4_000);
      handOver.retry();
      world.ready = [worker + 1];
      handOver.workerGone(worker);
    }
    const turns = Array.from({ length: 5 * takeUpAtOnce }, (_, index) => index + 1);
    expect(begun).toEqual([...turns, ...turns]);
    expect(world.counts.lost).toBe(0);
    world.ready = [];
    handOver.workerGone(11);
    clock.advance(10_000);
    handOver.retry();
    expect(world.counts.lost).toBe(5 * takeUpAtOnce);
  });

  it('does not wait for a worker with a call that ends before it is taken up', () => {
    const { handOver, offers } = deathWith(takeUpAtOnce + 1, [1]);
    handOver.over(offers[0]?.offer ?? 0);
    expect(offers).toHaveLength(takeUpAtOnce + 1);
  });

  it('tells the takers of lost calls, and nobody else, when they have all of them', () => {
    const { give, offers, handOver, world } = newWorld([0, 1, 2], true);
    for (let id = 1; id <= 3; id += 1) {
      give();
      handOver.taken(id);
    }
    world.leftRecords.set(1, { slot: 0, connection: 'open' });
    world.leftRecords.set(2, { slot: 1, connection: 'open' });
    world.ready = [2];
    handOver.workerGone(0);
    expect(world.allGiven).toEqual([{ worker: 2, offers: 4 }]);
    give();
    handOver.retry();
    expect(world.allGiven).toHaveLength(1);
    // Again for each time that one more follows.
    world.ready = [1, 2];
    handOver.declined(1);
    expect(world.allGiven.slice(1)).toEqual([{ worker: 1, offers: 6 }]);
    world.ready = [];
    handOver.workerGone(1);
    expect(world.allGiven).toHaveLength(2);
    world.ready = [3];
    handOver.retry();
    expect(world.allGiven.slice(2)).toEqual([{ worker: 3, offers: offers.length }]);
  });

  it('moves what a dead worker had not confirmed, and ends what it had', () => {
    const { give, offers, handOver, world } = newWorld([0, 1]);
    const sockets = [give(), give(), give(), give()];
    handOver.taken(1);
    world.ready = [1];
    handOver.workerGone(0);
    expect(offers.slice(4)).toEqual([{ worker: 1, offer: 3 }]);
    expect([world.released, handOver.open, handOver.waiting]).toEqual([1, 3, 3]);
    expect(sockets.map((socket) => socket.destroyed)).toEqual([true, false, false, false]);
    expect(world.counts.moved).toBe(1);
  });

  it.each([
    ['writable', '880203f3'],
    ['torn', ''],
  ] as const)('ends a connection that was left %s without a reset', async (connection, expected) => {
    const { handOver, world } = newWorld([0], true);
    const { socket, heard, over } = await connected();
    handOver.give(socket, upgradeRequest, () => (world.released += 1));
    handOver.taken(1);
    world.leftRecords.set(1, { slot: 0, connection });
    const closed = once(socket, 'close');
    handOver.workerGone(0);
    // The process must not leave before the client has read it.
    expect(handOver.isTelling).toBe(true);
    await Promise.all([over, closed]);
    expect([Buffer.concat(heard).toString('hex'), world.released, handOver.isTelling]).toEqual([
      expected,
      1,
      false,
    ]);
  });

  it('gives a client that reads nothing of its end a second', async () => {
    const { handOver, world, clock } = newWorld([0], true);
    const { socket } = await connected({ allowHalfOpen: true });
    handOver.give(socket, upgradeRequest, () => (world.released += 1));
    handOver.taken(1);
    world.leftRecords.set(1, { slot: 0, connection: 'writable' });
    const closed = once(socket, 'close');
    handOver.workerGone(0);
    clock.advance(999);
    expect([socket.destroyed, handOver.isTelling]).toEqual([false, true]);
    clock.advance(1);
    await closed;
    expect([socket.destroyed, handOver.isTelling]).toEqual([true, false]);
  });

  it('waits a second at most for a client that was gone before', async () => {
    const { handOver, world, clock } = newWorld([0], true);
    const { socket } = await connected();
    handOver.give(socket, upgradeRequest, () => (world.released += 1));
    handOver.taken(1);
    world.leftRecords.set(1, { slot: 0, connection: 'writable' });
    const closed = once(socket, 'close');
    socket.destroy();
    await closed;
    handOver.workerGone(0);
    clock.advance(1_000);
    expect(handOver.isTelling).toBe(false);
  });

  it('tells a call that no worker came to take up, and a connection that was no call yet', async () => {
    const { handOver, world, clock } = newWorld([0], true);
    const [call, fresh] = [await connected(), await connected()];
    handOver.give(call.socket, upgradeRequest, () => (world.released += 1));
    handOver.taken(1);
    world.leftRecords.set(1, { slot: 7, connection: 'open' });
    world.ready = [];
    handOver.workerGone(0);
    handOver.give(fresh.socket, upgradeRequest, () => (world.released += 1));
    clock.advance(10_000);
    handOver.retry();
    await Promise.all([call.over, fresh.over]);
    expect(Buffer.concat(call.heard).toString('hex')).toBe('880203f3');
    expect(Buffer.concat(fresh.heard).toString()).toMatch(/^HTTP\/1\.1 503 .*"no_worker"/s);
    expect([world.released, world.counts.lost, world.forgotten]).toEqual([2, 2, [{ slot: 7, offer: 1 }]]);
  });

  it('says that the service stops to calls whose last worker dies while it does', async () => {
    const { handOver, world } = newWorld([0], true);
    const { socket, heard, over } = await connected();
    handOver.give(socket, upgradeRequest, () => (world.released += 1));
    handOver.taken(1);
    world.leftRecords.set(1, { slot: 0, connection: 'open' });
    world.stopping = true;
    world.ready = [];
    handOver.workerGone(0);
    await over;
    const said = Buffer.concat(heard);
    expect([said.subarray(2, -4).toString(), said.subarray(-4).toString('hex')]).toEqual([
      '{"type":"stop","reason":"shutdown"}',
      '880203e9',
    ]);
    expect(world.released).toBe(1);
  });

  it('keeps the record of a call that waits, and frees those that nobody will read', () => {
    const { give, handOver, world } = newWorld([0, 1], true);
    for (const id of [1, 2, 3, 4]) {
      give();
      handOver.taken(id);
    }
    world.ready = [1];
    world.leftRecords.set(1, { slot: 0, connection: 'open' });
    world.leftRecords.set(3, { slot: 1, connection: 'torn' });
    // Of a connection that is not known any more.
    world.leftRecords.set(99, { slot: 2, connection: 'open' });
    handOver.workerGone(0);
    expect(world.forgotten).toEqual([
      { slot: 1, offer: 3 },
      { slot: 2, offer: 99 },
    ]);
    // The one that was to take it up dies in the middle, and had begun a record of its own.
    world.forgotten.length = 0;
    world.ready = [2];
    world.leftRecords.clear();
    world.leftRecords.set(1, { slot: 10, connection: 'open' });
    handOver.workerGone(1);
    expect([world.forgotten, world.resumeFrom.at(-1)]).toEqual([[{ slot: 0, offer: 1 }], 10]);
    handOver.over(1);
    expect(world.forgotten.at(-1)).toEqual({ slot: 10, offer: 1 });
  });

  it('goes on from the earlier record where the worker that was to take the call up died before it had it whole', () => {
    const { give, offers, handOver, world } = newWorld([0], true);
    give();
    handOver.taken(1);
    world.ready = [1];
    world.leftRecords.set(1, { slot: 0, connection: 'open' });
    handOver.workerGone(0);
    world.ready = [2];
    world.leftRecords.clear();
    world.leftRecords.set(1, { slot: 10, connection: 'begun' });
    handOver.workerGone(1);
    expect([offers.at(-1), world.resumeFrom]).toEqual([{ worker: 2, offer: 1 }, [0, 0]]);
    // The record that was only begun is of no use to anybody.
    expect([world.forgotten, world.counts.cut]).toEqual([[{ slot: 10, offer: 1 }], 0]);
  });

  it('ends a call at the second worker that hung or died for it, and takes up all others', async () => {
    const { offers, handOver, world } = newWorld([0], true);
    const calls = [await connected(), await connected(), await connected()];
    for (const { socket } of calls) handOver.give(socket, upgradeRequest, () => (world.released += 1));
    for (const id of [1, 2, 3]) handOver.taken(id);
    const left = (first: number): void => {
      world.leftRecords.clear();
      for (const id of [1, 2, 3]) world.leftRecords.set(id, { slot: first + id, connection: 'open' });
    };
    left(0);
    world.ready = [1];
    expect(handOver.workerGone(0, 1)).toMatchObject({ open: 3, blamed: 0 });
    // The one that may do it again comes last.
    expect(offers.slice(3).map(({ offer }) => offer)).toEqual([2, 3, 1]);
    for (const id of [1, 2, 3]) handOver.taken(id);
    left(10);
    world.ready = [2];
    expect(handOver.workerGone(1, 1)).toMatchObject({ open: 2, blamed: 1 });
    await calls[0]!.over;
    expect(Buffer.concat(calls[0]!.heard).toString('hex')).toBe('880203f3');
    expect(offers.slice(6).map(({ offer }) => offer)).toEqual([2, 3]);
    expect([world.counts.blamed, world.released]).toEqual([1, 1]);
  });

  it('takes a call up however often its workers die of something else', () => {
    const { give, handOver, world } = newWorld([0], true);
    give();
    handOver.taken(1);
    for (let worker = 0; worker < 30; worker += 1) {
      world.ready = [worker + 1];
      world.leftRecords.set(1, { slot: worker, connection: 'open' });
      expect(handOver.workerGone(worker)).toMatchObject({ open: 1, blamed: 0 });
      handOver.taken(1);
    }
  });

  it('keeps a connection for the replacement when no worker is there', () => {
    const { give, offers, handOver, world, clock } = newWorld();
    give();
    world.ready = [];
    handOver.workerGone(0);
    clock.advance(9_999);
    handOver.retry();
    expect(offers).toHaveLength(1);
    world.ready = [0];
    handOver.retry();
    expect(offers).toEqual([
      { worker: 0, offer: 1 },
      { worker: 0, offer: 1 },
    ]);
    handOver.taken(1);
    expect(world.counts).toEqual({ taken: 1, moved: 1, lost: 0, resumed: 0, cut: 0, blamed: 0 });
  });

  it('gives a connection up after ten seconds without a worker, and its slot back', () => {
    const { give, handOver, world, clock } = newWorld([]);
    const socket = give();
    clock.advance(10_000);
    handOver.retry();
    clock.advance(1_000);
    expect([socket.destroyed, world.released, handOver.open, handOver.waiting]).toEqual([true, 1, 0, 0]);
    expect(world.counts.lost).toBe(1);
    handOver.over(1);
    handOver.taken(1);
    expect(world.released).toBe(1);
  });

  it('does not offer again what a worker declined to the same worker', () => {
    const { give, offers, handOver } = newWorld([0, 1]);
    give();
    handOver.declined(1);
    handOver.declined(1);
    handOver.retry();
    expect(offers.map(({ worker }) => worker)).toEqual([0, 1]);
    expect(handOver.waiting).toBe(1);
  });

  it('survives a reset of its duplicate, which the worker sees on its own one', () => {
    const { give, handOver } = newWorld();
    expect(give().emit('error', new Error('read ECONNRESET'))).toBe(true);
    expect(handOver.open).toBe(1);
  });

  it('takes a call that is over before it was confirmed', () => {
    const { give, handOver, world } = newWorld();
    const socket = give();
    handOver.over(1);
    expect([socket.destroyed, world.released, handOver.waiting, handOver.open]).toEqual([true, 1, 0, 0]);
  });
});
