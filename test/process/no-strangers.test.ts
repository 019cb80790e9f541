/**
 * The service talks to its configured providers and to nobody else, in a call that is longer than its libraries wait before they
 * report to their makers. Watched are the hosts that Node's own means reach for, and every address that the processes name to
 * the kernel, native code included; a library that waits for longer than this call, or for a condition that is not met in it,
 * would go unseen.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../examples/demo/flite.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';
import { reachedFor, watchedBy, whyUnwatched } from '../support/process/watched-sockets.ts';

const preload = `--import ${new URL('../support/process/reported-connections.mjs', import.meta.url).href}`;
/** ONNX Runtime looks its maker up 9 to 10 s after it was loaded. */
const pastReportsMs = 12_000;
const longAnswer = 'This is one of the sentences that make it long. '.repeat(6);

const unwatched = whyUnwatched();

let folder: string;
let service: TestService;
let configured: readonly string[];

/** A service with an empty home serves a call with a long answer, and ends. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-strangers-'));
  const home = join(folder, 'home');
  mkdirSync(join(home, 'tmp'), { recursive: true });
  service = await TestService.start({
    ...(unwatched === '' && { through: watchedBy(join(folder, 'trace')) }),
    env: {
      HOME: home,
      TMPDIR: join(home, 'tmp'),
      XDG_CACHE_HOME: '',
      XDG_DATA_HOME: '',
      NODE_OPTIONS: preload,
    },
  });
  const { stt, llm, tts } = service.providers;
  configured = [stt, llm, tts].map(({ baseUrl }) => new URL(baseUrl).host);
  const flite = await loadFlite();
  const call = await service.call();
  stt.utterances.push('tell me a story');
  llm.script.push(answer(longAnswer));
  void call.say(flite('Please tell me a story about ideas.', { voice: 'slt', speed: 1 }));
  expect(await call.next(({ type, atMs }) => type === 'audio' && atMs > pastReportsMs)).toBeDefined();
  await call.hangUp();
  await service.stop();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a whole call', () => {
  it('has no process reach for a host that is not configured', () => {
    const lines = service.log.filter(({ msg }) => msg === 'host that was reached for');
    expect(new Set(lines.map(({ host }) => host))).toEqual(new Set(['127.0.0.1']));
  });

  it.skipIf(unwatched !== '')(
    `has none name another address to the kernel${unwatched === '' ? '' : `: ${unwatched}`}`,
    () => {
      expect(reachedFor(join(folder, 'trace')).sort()).toEqual([...configured].sort());
    },
  );

  it('leaves nothing in the home folder', () => {
    expect(readdirSync(join(folder, 'home'), { recursive: true })).toEqual(['tmp']);
  });
});
