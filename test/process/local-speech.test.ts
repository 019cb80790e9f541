/**
 * `svc-supervisor local` with the real sherpa-onnx: with models of a language of tones that are made here, and with models
 * for people where SVC_TEST_SHERPA_DIR names a folder of them.
 */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { hasSherpa } from '../../cli/commands/local/sherpa.ts';
import { refusedLocalSpeech, startLocalSpeech, type LocalSpeech } from '../support/local-speech.ts';
import { heardBy, padded, speechOf } from '../support/core/speech-stages.ts';
import { toneEars, writeToneModels } from '../support/audio/tone-models.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const noSherpa = hasSherpa() ? '' : ': sherpa-onnx-node is not installed';
const realModels = process.env['SVC_TEST_SHERPA_DIR'];

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-local-'));
  writeToneModels(folder);
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: project, stdio: 'pipe' });
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A turn of a caller who says the texts in the server's own voice. */
const saying = async (server: LocalSpeech, texts: readonly string[]): Promise<Int16Array> =>
  padded(await speechOf(server.tts, texts));

function enginePid({ pid }: LocalSpeech, entry: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const isWanted = (child: string): boolean => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(entry);
  return Number(children.find(isWanted));
}

describe.skipIf(noSherpa !== '').each(toneEars)(
  `local speech in a language of tones, by the model %s${noSherpa}`,
  (ear) => {
    let server: LocalSpeech;

    beforeAll(async () => {
      server = await startLocalSpeech(['--models', folder, '--stt-model', ear]);
    });

    afterAll(async () => {
      expect(await server.stop()).toBe(0);
    });

    it('speaks a text that its recogniser hears again, word by word while it comes', async () => {
      const pcm = await saying(server, ['book a table for two.', 'tomorrow please.']);
      const [first] = await heardBy(server.stt, [pcm], { partials: 8 });
      const text = 'book a table for twotomorrow please';
      expect(first?.finals).toEqual([text]);
      for (const partial of first?.partials ?? []) expect(text.startsWith(partial)).toBe(true);
    });

    it('hears utterance after utterance on one connection, each from its own beginning', async () => {
      const texts = ['hello', 'no', 'goodbye then'];
      const pcms = await Promise.all(texts.map((text) => saying(server, [text])));
      const all = await heardBy(server.stt, pcms);
      expect(all.map(({ finals }) => finals)).toEqual(texts.map((text) => [text]));
    });

    it('serves many callers at the same time', async () => {
      const texts = Array.from({ length: 12 }, (_, index) => `caller ${'abcdefghijkl'[index]} speaks`);
      const all = await Promise.all(
        texts.map(async (text) => (await heardBy(server.stt, [await saying(server, [text])]))[0]?.finals),
      );
      expect(all).toEqual(texts.map((text) => [text]));
    });

    it('says over HTTP that it is well', async () => {
      const response = await fetch(server.tts.replace('/v1', '/health'));
      expect([response.status, await response.json()]).toMatchObject([
        200,
        { status: 'ok', stt: { model: ear, ready: true }, tts: { model: 'tone-voice', ready: true } },
      ]);
    });

    it('keeps what it was given to speak out of its output', async () => {
      const text = 'çççç a secret ç';
      await fetch(`${server.tts}/audio/speech`, { method: 'POST', body: JSON.stringify({ input: text }) });
      expect(server.notices() + JSON.stringify(server.lines)).not.toContain('secret');
    });

    it('goes on with everything else while one engine stands still', async () => {
      const pcm = await saying(server, ['still here']);
      const voice = enginePid(server, 'voice-process');
      process.kill(voice, 'SIGSTOP');
      let isSpoken = false;
      const late = saying(server, ['late']).finally(() => {
        isSpoken = true;
      });
      const [heard] = await heardBy(server.stt, [pcm]);
      expect(heard?.finals).toEqual(['still here']);
      expect((await fetch(server.tts.replace('/v1', '/health'))).status).toBe(200);
      expect(isSpoken).toBe(false);
      process.kill(voice, 'SIGCONT');
      expect((await late).length).toBeGreaterThan(16_000);
    });

    it('starts an engine that died again, and tells who was listening', async () => {
      const pid = enginePid(server, 'recognizer-process');
      const socket = new WebSocket(server.stt);
      await new Promise((resolve) => socket.once('open', resolve));
      socket.send(new Float32Array(1_600));
      const closed = new Promise((resolve) => socket.once('close', resolve));
      process.kill(pid, 'SIGKILL');
      expect(await closed).toBe(1011);
      const url = server.tts.replace('/v1', '/health');
      await expect.poll(async () => (await fetch(url)).status, { timeout: 20_000, interval: 100 }).toBe(200);
      const [again] = await heardBy(server.stt, [await saying(server, ['here again'])]);
      expect(again?.finals).toEqual(['here again']);
    });
  },
);

describe.skipIf(noSherpa !== '')(`the start of local speech${noSherpa}`, () => {
  it('is refused with the name of the file that is missing', async () => {
    const path = join(folder, 'half');
    mkdirSync(join(path, 'ear'), { recursive: true });
    for (const name of ['encoder.onnx', 'joiner.onnx', 'tokens.txt'])
      writeFileSync(join(path, 'ear', name), 'x');
    const { code, text } = await refusedLocalSpeech(['--models', path, '--without', 'tts']);
    expect(code).toBe(1);
    expect(text).toContain('there is no decoder*.onnx in the folder ear');
  });

  it('is refused when a model does not load, and leaves nothing behind', async () => {
    const path = join(folder, 'broken');
    writeToneModels(path);
    const model = join(path, 'tone-ctc', 'model.onnx');
    writeFileSync(model, readFileSync(model).subarray(0, 9_000));
    const { code, text } = await refusedLocalSpeech([
      '--models',
      path,
      '--without',
      'tts',
      '--stt-port',
      '0',
      '--stt-model',
      'tone-ctc',
    ]);
    expect(code).toBe(1);
    expect(text).toContain('the recogniser could not be started: its model does not load');
  });

  it('leaves nothing in the home folder, and no engine behind when it is killed itself', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    const server = await startLocalSpeech(['--models', folder, '--stt-model', 'tone-ctc'], { HOME: home });
    expect(readdirSync(home)).toEqual([]);
    const engines = ['recognizer-process', 'voice-process'].map((entry) => enginePid(server, entry));
    await server.stop('SIGKILL');
    const alive = (): number[] =>
      engines.filter(
        (pid) => existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '',
      );
    await expect.poll(alive, { timeout: 20_000, interval: 50 }).toEqual([]);
  });

  it('is refused on a port that another program has', async () => {
    const server = await startLocalSpeech([
      '--models',
      folder,
      '--without',
      'stt',
      '--tts-model',
      'tone-voice',
    ]);
    const port = new URL(server.tts).port;
    const again = ['--models', folder, '--without', 'stt', '--tts-model', 'tone-voice', '--tts-port', port];
    expect(await refusedLocalSpeech(again)).toEqual({
      code: 1,
      text: `--tts-port: cannot listen on 127.0.0.1:${port} (EADDRINUSE)\n`,
    });
    expect(await server.stop('SIGINT')).toBe(0);
  });
});

const noRealModels =
  noSherpa !== '' ? noSherpa : realModels === undefined ? ': SVC_TEST_SHERPA_DIR names no models' : '';

describe.skipIf(noRealModels !== '')(`local speech for people${noRealModels}`, () => {
  it('hears what it says itself', async () => {
    const server = await startLocalSpeech(['--models', realModels!]);
    const pcm = await saying(server, ['I would like to book a table for two people tomorrow evening.']);
    const [all] = await heardBy(server.stt, [pcm], { partials: 3 });
    await server.stop();
    const words =
      all?.finals
        .join(' ')
        .toLowerCase()
        .match(/[a-z]+/g) ?? [];
    expect(words).toEqual(
      expect.arrayContaining(['like', 'book', 'table', 'for', 'people', 'tomorrow', 'evening']),
    );
  });
});
