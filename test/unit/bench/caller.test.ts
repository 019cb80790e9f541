import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Caller, newFindings } from '../../../scripts/measure/bench/client/caller.ts';
import { audioFrame } from '../../../scripts/measure/bench/client/client.ts';
import { answer, excuses, framesOfText, greeting } from '../../../scripts/measure/bench/client/script.ts';
import { wires } from '../../../scripts/measure/bench/client/wire.ts';

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
const callers: Caller[] = [];
let now = 0;
beforeEach(() => {
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  for (const caller of callers.splice(0)) caller.destroy();
});
afterAll(() => server.close());

/** A caller whose time is the test's, and the service that it calls; it has heard the greeting and now speaks for two frames. */
async function speakingCaller({ talksOver = false } = {}) {
  const findings = newFindings();
  const taken = new Promise<WebSocket>((resolve) => server.once('connection', resolve));
  const frame = audioFrame(Buffer.alloc(2));
  const caller = new Caller({
    address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    start: { sample_rate: 8_000, encoding: 'mulaw' },
    wire: wires.websocket,
    head: { path: '/', headers: {} },
    callId: 'seventh',
    clips: [[frame, frame]],
    silence: [frame],
    findings: () => findings,
    random: () => (talksOver ? 0 : 0.9),
    failed: (reason) => {
      throw new Error(reason);
    },
  });
  callers.push(caller);
  const service = await taken;
  service.send('{"type":"started"}');
  await vi.waitFor(() => expect(caller.isOpen).toBe(true));

  const later = (ms: number): void => {
    now += ms;
    caller.tick(now);
  };
  const hears = async (frames: number): Promise<void> => {
    const before = findings.framesReceived;
    for (let count = 0; count < frames; count += 1) service.send(Buffer.alloc(2));
    await vi.waitFor(() => expect(findings.framesReceived).toBe(before + frames));
  };
  const isCut = async (): Promise<void> => {
    const before = findings.clear.count + findings.unexpectedClears;
    service.send('{"type":"clear","epoch":1}');
    await vi.waitFor(() => expect(findings.clear.count + findings.unexpectedClears).toBe(before + 1));
  };

  await hears(framesOfText(greeting));
  later(10_000);
  later(2_000);
  return { findings, later, hears, isCut };
}

const whole = framesOfText(answer);
const whatOf = ({ incidents }: { incidents: readonly { what: string }[] }) =>
  incidents.map(({ what }) => what);

test('an answer that begins while the caller speaks is whole when all of it came', async () => {
  const { findings, later, hears } = await speakingCaller();
  await hears(30);
  later(20);
  await hears(whole - 30);
  later(20_000);
  expect(findings).toMatchObject({ premature: 1, answers: 1, short: 0, incidents: [] });
  expect(findings.response.count).toBe(0);
});

test('an answer that begins in time is measured from the end of the speech', async () => {
  const { findings, later, hears } = await speakingCaller();
  later(20);
  await hears(whole);
  later(20_000);
  expect(findings).toMatchObject({ premature: 0, answers: 1, short: 0, incidents: [] });
  expect(findings.response.count).toBe(1);
});

test('an answer that breaks off is told with its caller and what happened before', async () => {
  const { findings, later, hears } = await speakingCaller();
  later(20);
  await hears(whole - 40);
  later(20_000);
  expect(findings.short).toBe(1);
  expect(findings.incidents).toMatchObject([
    { what: `broken off: ${whole - 40} of ${whole} frames`, caller: 'seventh' },
  ]);
  expect(findings.incidents[0]?.story).toMatch(/^spoke \(.*fell silent \(.*an answer began \(/);
});

test('the service that says that it has no answer has not broken one off', async () => {
  for (const excuse of excuses) {
    const { findings, later, hears } = await speakingCaller();
    later(20);
    await hears(framesOfText(excuse));
    later(20_000);
    expect(findings).toMatchObject({ excuses: 1, short: 0 });
  }
});

test('what goes on after a talk-over that nobody noticed is no answer to it', async () => {
  const { findings, later, hears } = await speakingCaller({ talksOver: true });
  later(20);
  await hears(100);
  later(1_000);
  later(20);
  await hears(whole - 100);
  later(1_200);
  await hears(1);
  later(20_000);
  expect(findings).toMatchObject({ talkOvers: 1, unnoticed: 1, answers: 1, short: 0 });
  expect(whatOf(findings)).toEqual(['a talk-over that was not noticed']);
});

test('a caller whose answer is cut by what it said before waits for the next one', async () => {
  const { findings, later, hears, isCut } = await speakingCaller();
  later(20);
  await hears(60);
  await isCut();
  later(7_000);
  expect(findings).toMatchObject({ unexpectedClears: 1, unanswered: 1, short: 0 });
  expect(whatOf(findings)).toEqual(['cut although nobody talked over it', 'no answer']);
});

test('no more than ten incidents are kept', async () => {
  const { findings, later, hears, isCut } = await speakingCaller();
  later(20);
  for (let cut = 0; cut < 12; cut += 1) {
    await hears(5);
    await isCut();
  }
  expect(findings.unexpectedClears).toBe(12);
  expect(findings.incidents).toHaveLength(10);
});
