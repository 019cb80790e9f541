/** A client that sends more than a caller would: what it sent is looked at later, in order, and nothing of it is lost. */
import { afterEach, describe, expect, it } from 'vitest';
import {
  afterSilence,
  charge,
  hasCredit,
  intakeCosts,
  newAllowance,
  spend,
} from '../../../worker/transports/socket/allowance.ts';
import {
  CallClient,
  CallServer,
  RawClient,
  clientFrame,
  startMessage,
  textFrame,
  type CallServerSettings,
} from './call-server.ts';

let server: CallServer | undefined;
afterEach(() => {
  server?.close();
  server = undefined;
});

async function open(settings: CallServerSettings = {}): Promise<{ server: CallServer; client: RawClient }> {
  server = await new CallServer(settings).listen();
  const client = new RawClient(server.port);
  await client.upgraded;
  client.socket.write(textFrame(startMessage));
  const { calls } = server;
  await server.until(() => calls[0]?.log[0] === 'started');
  return { server, client };
}

/** Bytes cost a little as well, so fewer than a hundred messages fit into the first hundred. */
const atOnce = 85;

const marks = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `mark m${from + index}`);
const markFrames = (count: number): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, index) => textFrame({ type: 'mark', id: `m${index}` })));

describe('the allowance', () => {
  it('is a hundred control messages at once, then fifty a second', () => {
    const allowance = newAllowance(0);
    const taken = (now: number): number => {
      let count = 0;
      while (spend(allowance, intakeCosts.control, now)) count += 1;
      return count;
    };
    expect([taken(0), taken(0), taken(1_000), taken(1_020), taken(60_000)]).toEqual([100, 0, 50, 1, 100]);
  });

  it('gives a client what it could have sent while nobody read, for at most ten seconds', () => {
    const left = newAllowance(0);
    while (spend(left, intakeCosts.control, 0));
    const taken = (now: number): number => {
      const allowance = afterSilence(left, now);
      let count = 0;
      while (spend(allowance, intakeCosts.control, now)) count += 1;
      return count;
    };
    expect([taken(0), taken(5_000), taken(3_600_000)]).toEqual([0, 250, 500]);
    const allowance = afterSilence(left, 5_000);
    expect(hasCredit(allowance, 6_000)).toBe(true);
    expect(allowance.credit).toBe(250);
  });

  it('lets audio of the highest rate through for ever', () => {
    const allowance = newAllowance(0);
    for (let now = 0; now < 600_000; now += 20) {
      expect(charge(allowance, intakeCosts.audioFrame + 1_928 * intakeCosts.byte, now)).toBe(true);
      if (now % 100 === 0) expect(spend(allowance, intakeCosts.control, now)).toBe(true);
    }
  });

  it('is owed what was taken beyond it', () => {
    const allowance = newAllowance(0);
    expect(charge(allowance, 150, 0)).toBe(false);
    expect([hasCredit(allowance, 1_000), hasCredit(allowance, 1_020)]).toEqual([false, true]);
  });
});

describe('control messages beyond the allowance', () => {
  it('arrive later, in order, and all of them', async () => {
    const { server, client } = await open();
    client.socket.write(markFrames(150));
    await server.until(() => server.call.log.length > atOnce);
    const first = server.call.log.length;
    expect(server.call.log).toEqual(['started', ...marks(0, first - 1)]);
    expect(first).toBeLessThanOrEqual(100);
    server.advance(200);
    expect(server.call.log).toEqual(['started', ...marks(0, first + 9)]);
    server.advance(1_000);
    expect(server.call.log).toEqual(['started', ...marks(0, 150)]);
  });

  it('hold back what comes after them, the end of the call as well', async () => {
    const { server, client } = await open();
    client.socket.write(Buffer.concat([markFrames(120), textFrame({ type: 'stop' })]));
    await server.until(() => server.call.log.length > atOnce);
    server.advance(400);
    expect(server.call.log).not.toContain('ended hangup');
    server.advance(100);
    expect(server.call.log.slice(-2)).toEqual(['mark m119', 'ended hangup']);
  });

  it('stay in the network while earlier ones wait, and the client is not called silent', async () => {
    const { server, client } = await open({ limits: { pingIntervalMs: 100, pingTimeoutMs: 400 } });
    const count = 300_000;
    let flushed = false;
    client.socket.write(markFrames(count), () => (flushed = true));
    await server.until(() => server.call.log.length > atOnce);
    const first = server.call.log.length;
    const other = new CallClient(server.port);
    await other.opened();
    other.send(startMessage);
    for (let round = 0; round < 50; round += 1) {
      other.send({ type: 'mark', id: `o${round}` });
      await server.until(() => server.calls[1]?.log.at(-1) === `mark o${round}`);
      server.advance(20);
    }
    const { log } = server.calls[0]!;
    expect(log).toEqual(['started', ...marks(0, log.length - 1)]);
    expect(log.length).toBeLessThanOrEqual(first + 50);
    expect(flushed).toBe(false);
  });
});

describe('pings beyond the allowance', () => {
  it('are answered by the newest of them', async () => {
    const { server, client } = await open();
    const pings = Array.from({ length: 300 }, (_, index) => clientFrame(9, String(index)));
    client.socket.write(Buffer.concat(pings));
    await server.until(() => server.call.controlFrames === 300);
    server.advance(20);
    const pongs = (): string[] => {
      const texts: string[] = [];
      for (let at = 0; at < client.bytes.length; at += 2 + (client.bytes[at + 1] ?? 0))
        if (client.bytes[at] === 0x8a)
          texts.push(client.bytes.toString('latin1', at + 2, at + 2 + (client.bytes[at + 1] ?? 0)));
      return texts;
    };
    while (pongs().at(-1) !== '299') await new Promise((resolve) => client.socket.once('data', resolve));
    const answered = pongs().slice(0, -1);
    expect(answered).toEqual(answered.map((_, index) => String(index)));
    expect([answered.length > atOnce, answered.length < 100]).toEqual([true, true]);
  });
});
