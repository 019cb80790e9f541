/** The sound behind the voice is each agent's own, a changed file is for new calls, and a recording has the voice alone. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import { rmsDbfs } from '../../../shared/audio/pcm.ts';
import { wholeRecordingFile } from '../../../shared/installation/recording-file.ts';
import { Providers, TestService } from '../../support/process/service.ts';

const secret = 'a secret of at least thirty-two bytes';
const dir = mkdtempSync(join(tmpdir(), 'background-agents-'));
const recordings = join(dir, 'recordings');
let providers: Providers;
let service: TestService;

/** Writes the file of an agent as a program should that replaces one. */
function put(id: string, sound: string): void {
  const path = join(dir, 'agents', `${id}.toml`);
  mkdirSync(join(path, '..'), { recursive: true });
  // The providers of tests are on this machine.
  const [tenant = '', name = ''] = id.split('/');
  writeFileSync(join(dir, 'agents', `${tenant}.tenant.toml`), '[allow]\nprivate_addresses = true\n');
  const text = providers.agentText({ greeting: 'Hello there.', tables: sound });
  writeFileSync(`${path}.new`, text.replace('name = "test"', `name = "${name}"`));
  renameSync(`${path}.new`, path);
}

const office = (volume: number): string => `[audio.background]\nsound = "office"\nvolume = ${volume}`;
const recorded = '[recording]\naudio = true\nconsent = "This is recorded."';

beforeAll(async () => {
  providers = await new Providers().start();
  mkdirSync(recordings);
  put('clinic/desk', `${office(1)}\n${recorded}`);
  put('diner/host', office(0.05));
  service = await TestService.start({
    env: {
      ...{ SVC_AGENTS_DIR: join(dir, 'agents'), SVC_SESSION_SECRET: secret },
      SVC_RECORDING_DIR: recordings,
    },
    providers,
  });
});

afterAll(async () => {
  await service.stop();
  rmSync(dir, { recursive: true });
});

async function call(agent: string): Promise<CallClient> {
  const minted = mintSessionToken(
    { aud: 'svc-ws', ttlS: 60, sid: randomUUID(), agent },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!minted.ok) throw new Error(minted.error);
  const client = await service.call({ token: minted.value });
  await client.next(({ type }) => type === 'mark-played');
  return client;
}

/** How loud the last of two seconds is that a caller hears while nobody speaks. */
async function levelOf(client: CallClient): Promise<number> {
  for (let frame = 0; frame < 100; frame += 1) await client.next(({ type }) => type === 'audio');
  return rmsDbfs(client.heard().slice(-16_000));
}

it('is as loud as its own agent has it, and a change of the file is for new calls', async () => {
  const [desk, host] = [await call('clinic/desk'), await call('diner/host')];
  const [loud, soft] = [await levelOf(desk), await levelOf(host)];
  // 1 is 26 dB above 0.05.
  expect(loud - soft).toBeGreaterThan(20);
  put('clinic/desk', office(0.05));
  await service.says('an agent was changed: new calls get this version');
  const changed = await call('clinic/desk');
  expect(loud - (await levelOf(changed))).toBeGreaterThan(20);
  expect(Math.abs(loud - (await levelOf(desk)))).toBeLessThan(6);
  await Promise.all([desk, host, changed].map((client) => client.hangUp()));
  await service.counted('svc_recordings_total{what="finished"}', 1);
  const folders = readdirSync(recordings, { encoding: 'utf8', recursive: true });
  const folder = folders.find((name) => name.endsWith(desk.callId)) ?? '';
  const wav = await wholeRecordingFile(join(recordings, folder), 'audio.wav', undefined);
  // What the agent has sent stands right: the last second is of its silence, in which the caller heard an office.
  const right = Int16Array.from({ length: 16_000 }, (_, at) =>
    wav.readInt16LE(wav.length - 64_000 + 4 * at + 2),
  );
  expect(loud).toBeGreaterThan(-35);
  expect(rmsDbfs(right)).toBeLessThan(-80);
});

it('refuses a wrong sound with the name of its key, and keeps what was in force', async () => {
  put('diner/host', '[audio.background]\nsound = "cafe"');
  const wrong = await service.says('an agent file is wrong: its earlier settings stay in force');
  expect(JSON.stringify(wrong)).toContain('audio.background.sound must be one of');
  const host = await call('diner/host');
  expect(await levelOf(host)).toBeLessThan(-40);
  await host.hangUp();
});
