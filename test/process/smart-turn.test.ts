/** The turn model in the real processes: what refuses the start, what warns, what answers, and how it stops. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wakeWaiters } from '../../shared/runtime/futex.ts';
import { startInference } from '../../scripts/measure/eval-turns/inference.ts';
import { smartTurnWheel } from '../../shared/installation/model-registry.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { vadFrameSamples } from '../../shared/protocol/mailbox-slot.ts';
import { TurnClient } from '../../worker/media/vad/turn-client.ts';
import { VadClient } from '../../worker/media/vad/vad-client.ts';
import { TestService } from '../support/process/service.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const assets = process.env['SVC_TEST_ASSETS'];
const standIn =
  assets === undefined ? undefined : join(assets, 'models', 'smart-turn', 'stand-in-random-weights.onnx');
const noModel =
  standIn === undefined || !existsSync(standIn) ? 'SVC_TEST_ASSETS holds no stand-in of the turn model' : '';

let emptyFolder: string;

beforeAll(() => {
  emptyFolder = mkdtempSync(join(tmpdir(), 'svc-no-models-'));
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: project, stdio: 'pipe' });
});

afterAll(() => {
  rmSync(emptyFolder, { recursive: true, force: true });
});

describe('the start of the service', () => {
  it('is refused by a turn model that is not there, with the name of the variable', async () => {
    const missing = join(emptyFolder, 'secret-name.onnx');
    const service = await TestService.launch({ env: { SVC_SMART_TURN_MODEL: missing } });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(service.text.join('\n')).toContain('SVC_SMART_TURN_MODEL must name a file');
    expect(service.text.join('\n')).not.toContain('secret-name');
    await service.stop();
  });

  it('is refused by a turn model that does not load, at once and in one line', async () => {
    const broken = join(emptyFolder, 'secret-name.onnx');
    writeFileSync(broken, 'input_features and logits, but no model');
    const service = await TestService.launch({ env: { SVC_SMART_TURN_MODEL: broken } });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    const fatal = service.log.filter(({ msg }) => msg.includes('SVC_SMART_TURN_MODEL must name another'));
    expect(fatal).toHaveLength(1);
    await service.stop();
  });

  it('is refused when the agent file wants a turn model and there is none', async () => {
    const service = await TestService.launch({
      turn: 'smart_turn = "on"',
      env: { SVC_MODELS_DIR: emptyFolder },
    });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(service.text.join('\n')).toContain('turn.smart_turn is "on"');
    await service.stop();
  });

  it('goes on without one where its index is out of reach or holds another, and says once why', async () => {
    const other = createServer((request, response) => {
      if (request.url?.endsWith('.whl') === true) response.end('another wheel');
      else response.end(`<a href="/files/${smartTurnWheel.name}">wheel</a>`);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const notFetched = async (index: string): Promise<unknown[]> => {
      const env = { SVC_MODELS_DIR: emptyFolder, SVC_MODEL_INDEX: index };
      const service = await TestService.start({ env });
      expect(service.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
      const hints = service.log.filter(({ msg }) => msg.includes('turns end by silence alone'));
      await service.stop();
      return hints.map((line) => line['notFetched']);
    };
    expect(await notFetched(`http://${address}/simple`)).toEqual([
      'the wheel holds something else than the pinned model',
    ]);
    await new Promise((resolve) => other.close(resolve));
    expect(await notFetched(`http://${address}/simple`)).toEqual([`${address} cannot be reached`]);
    expect(readdirSync(emptyFolder).filter((name) => name.startsWith('smart-turn'))).toEqual([]);
  });

  it('says once, as a hint, when there is none and none is wanted', async () => {
    const service = await TestService.start({ env: { SVC_MODELS_DIR: emptyFolder }, workers: 2 });
    const hints = service.log.filter(({ msg }) => msg.includes('turns end by silence alone'));
    expect(hints.map(({ level }) => level)).toEqual([30]);
    expect(await service.says('inference ready')).toMatchObject({ turnThreads: 0 });
    await service.stop();
  });
});

describe.skipIf(noModel !== '')(`inference with a turn model${noModel === '' ? '' : `: ${noModel}`}`, () => {
  it('is ready with its turn threads, and comes back with them', async () => {
    const service = await TestService.start({ env: { SVC_SMART_TURN_MODEL: standIn! } });
    const first = await service.says('inference ready');
    expect(first['turnThreads']).toBeGreaterThanOrEqual(1);
    process.kill(Number(first['pid']), 'SIGKILL');
    const again = await service.says('inference ready', (line) => line['pid'] !== first['pid']);
    expect(again['turnThreads']).toBe(first['turnThreads']);
    await service.stop();
  });

  it('goes on without it when the file is broken later', async () => {
    const copy = join(emptyFolder, 'copy.onnx');
    copyFileSync(standIn!, copy);
    const service = await TestService.start({ env: { SVC_SMART_TURN_MODEL: copy, SVC_HANG_TIMEOUT: '1s' } });
    const first = await service.says('inference ready');
    writeFileSync(copy, 'no model any more');
    process.kill(Number(first['pid']), 'SIGKILL');
    const again = await service.says('inference ready', (line) => line['pid'] !== first['pid']);
    expect(again['turnThreads']).toBe(0);
    expect(service.log.filter(({ msg }) => msg.includes('turns end by silence until'))).toHaveLength(1);
    expect(await (await fetch(`http://${service.address('health')}/metrics`)).text()).toContain(
      'svc_turn_oldest_seconds 0',
    );
    await service.stop();
  });

  it('answers questions of many calls, and leaves in good order with questions in work', async () => {
    const slots = 8;
    const root = pathToFileURL(`${project}/`);
    const inference = await startInference(root, { slots, turnModel: standIn });
    const { boxes } = inference;
    const answers: (number | undefined)[] = [];
    const calls = Array.from({ length: slots }, (_, slot) => {
      const vad = new VadClient({ boxes, slot, machineMs, judged: () => undefined });
      vad.write(
        Int16Array.from({ length: 6 * vadFrameSamples }, (_value, i) => 3_000 * Math.sin(i / (7 + slot))),
      );
      const judged = (probability: number | undefined): number => answers.push(probability);
      return new TurnClient({ boxes, slot, machineMs, judged, wake: wakeWaiters, withinMs: 60_000 });
    });
    for (const call of calls) call.ask();
    while (answers.length < slots) {
      await new Promise<void>((resolve) => {
        systemClock.after(0, resolve);
      });
      for (const call of calls) call.collect();
    }
    expect(answers.every((answer) => answer !== undefined && answer >= 0 && answer <= 1)).toBe(true);
    for (const call of calls) call.ask();
    expect(await inference.stop()).toBe(0);
  });
});
