/** What is known of a request to a carrier, and commands that are asked for again because that does no harm. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import {
  newRest,
  persistent,
  tellingFaults,
  type RestAnswer,
  type RestRequest,
} from '../../../supervisor/telephony/rest.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const request = { url: 'https://api.example/', authorization: '', contentType: '', body: '' };
const lost: RestAnswer = { kind: 'lost' };
const status = (code: number): RestAnswer => ({ kind: 'answered', status: code, body: undefined });

/** How often it was asked, and what came of it; each answer takes so long. */
async function ask(
  given: Partial<RestRequest>,
  answers: readonly RestAnswer[],
  tookMs = 0,
): Promise<readonly [number, RestAnswer]> {
  const clock = newVirtualClock();
  let asked = 0;
  const askOnce = async (): Promise<RestAnswer> => {
    clock.advance(tookMs);
    const answer = answers[Math.min(asked, answers.length - 1)] ?? lost;
    asked += 1;
    return await Promise.resolve(answer);
  };
  const wait = (ms: number): Promise<void> => {
    clock.advance(ms);
    return Promise.resolve();
  };
  const answer = await persistent(askOnce, { clock, wait })({ ...request, ...given });
  return [asked, answer];
}

it.each([
  ['an answer that is lost', lost],
  ['a connection that is not to be had', { kind: 'unsent' } as const],
  ['a server in trouble', status(503)],
  ['a server that has too much to do', status(429)],
])('behind %s such a command is asked for again', async (_, first) => {
  expect(await ask({ again: true }, [first, first, status(200)])).toEqual([3, status(200)]);
  expect(await ask({}, [first, status(200)])).toEqual([1, first]);
});

it('a refusal is the last word, and nobody waits for ever', async () => {
  expect(await ask({ again: true }, [status(422)])).toEqual([1, status(422)]);
  expect(await ask({ again: true }, [status(503)])).toEqual([4, status(503)]);
  expect(await ask({ again: true }, [lost], 10_000)).toEqual([2, lost]);
});

it('a command that is of no use any more is not asked for again', async () => {
  expect(await ask({ again: true, isVain: () => true }, [status(503)])).toEqual([1, status(503)]);
});

it('an answer that breaks off behind its status has been given', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{"sid":', () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const rest = newRest();
  expect(await rest.ask({ ...request, url: `http://127.0.0.1:${port}/` })).toEqual(status(200));
  rest.close();
  await new Promise((resolve) => server.close(resolve));
});

it.each([
  ['2010-04-01/Accounts/AC1/Calls/CA1.json', { asked: 'Calls', call: 'CA1' }],
  ['2010-04-01/Accounts/AC1/Calls.json', { asked: 'Calls.json' }],
  ['v2/calls/v3%3Aa/actions/hangup', { asked: 'hangup', call: 'v3:a' }],
  ['v2/conferences/c1/actions/join', { asked: 'join' }],
  ['v2/calls', { asked: 'calls' }],
])('a fault at %s is told with what was asked, and of which call', async (path, subject) => {
  const told: unknown[] = [];
  const warn = (line: unknown): void => void told.push(line);
  const ask = tellingFaults(() => Promise.resolve(status(500)), { warn });
  await ask({ ...request, url: request.url + path });
  expect(told).toEqual([{ host: 'api.example', ...subject, status: 500, code: undefined }]);
});
