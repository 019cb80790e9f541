/** A running service whose agent wants noise out of its calls: they are held as ever, also behind a takeover and where the noise model is not there. */
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { loadFlite } from '../../examples/demo/flite.ts';
import { newPrng } from '../../shared/base/prng.ts';
import type { CallClient } from '../../cli/commands/call/caller.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';

let service: TestService;
/** A question in a hiss, at 16 kHz. */
let question: Int16Array;
const turn = '[audio]\nnoise = "on"';

beforeAll(async () => {
  const flite = await loadFlite();
  const prng = newPrng(3);
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 }).map(
    (sample) => sample + prng.below(801) - 400,
  );
});

afterEach(() => service.stop());

async function ask(call: CallClient, words: string): Promise<void> {
  const { stt, llm } = service.providers;
  llm.script.push(answer('It is noon.'));
  stt.utterances.push(words);
  const before = llm.requests.length;
  await call.say(question);
  await llm.until(() => llm.requests.length > before);
  expect(JSON.stringify(llm.requests.at(-1)?.body['messages'])).toContain(words);
  expect(await call.next((event) => event.type === 'mark-played')).toBeDefined();
}

const frames = (state: string): Promise<number> => service.metric(`svc_inference_frames{state="${state}"}`);

it('answers a caller whose noise is taken out, and goes on with it when another worker takes the call', async () => {
  service = await TestService.start({ turn, env: { SVC_SPARE_WORKER: 'on' } });
  const call = await service.call();
  await ask(call, 'first question');
  const cleaned = await frames('cleaned');
  expect(cleaned).toBeGreaterThan(30);
  process.kill(await service.workerOf(call), 'SIGKILL');
  await ask(call, 'second question');
  // A busy machine leaves some frames as they are.
  expect(await frames('cleaned')).toBeGreaterThan(cleaned + 30);
  expect((await call.hangUp()).code).toBe(1000);
});

it('answers as ever without a noise model, and says once that there is none', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'no-model-'));
  const preload = join(folder, 'no-model.mjs');
  writeFileSync(
    preload,
    `import fs from 'node:fs';
     import { syncBuiltinESMExports } from 'node:module';
     const read = fs.readFileSync;
     fs.readFileSync = (path, ...rest) => {
       if (String(path).includes('rnnoise')) throw new Error('no such file');
       return read(path, ...rest);
     };
     syncBuiltinESMExports();`,
  );
  try {
    service = await TestService.start({ turn, env: { NODE_OPTIONS: `--import ${preload}` } });
    const call = await service.call();
    await ask(call, 'first question');
    await ask(call, 'second question');
    expect((await call.hangUp()).code).toBe(1000);
    expect(await frames('cleaned')).toBe(0);
    expect(await frames('noise_left')).toBeGreaterThan(60);
    const lines = service.log.filter(({ msg }) => msg.startsWith('noise cannot be taken out'));
    expect(lines).toHaveLength(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
