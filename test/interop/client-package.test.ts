/**
 * The library for browsers as strangers get it: packed, installed into an empty project, compiled against its types, bundled, and
 * called with in Chromium.
 */
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumMissing, type ChromiumPage, openChromium } from '../support/chromium.ts';
import { callerWav, ScriptedService } from './scripted-service.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(project, 'node_modules/typescript/bin/tsc');

/** What somebody writes who has read the page about the library. */
const program = `
import { audioDevices, CallFailed, tokenFrom, VoiceCall, type CallOutcome } from '@voice-agent-service/client';

const said: string[] = [];
const say = (text: string): void => {
  said.push(text);
  document.body.textContent = said.join('\\n');
};
const call = new VoiceCall({ url: '/ws', token: tokenFrom('/token'), callId: 'mine', metadata: { plan: 'gold' } });
call.on('state', (state) => say('state ' + state));
call.on('user-text', ({ text, final }) => say('you ' + text + (final ? '.' : '')));
const off = call.on('bot-text', ({ text }) => say('agent ' + text));
call.on('metrics', ({ metrics }) => say('response ' + (metrics.responseMs ?? 0)));
call.on('interrupted', ({ epoch }) => say('interrupted ' + epoch));
call.on('ended', (outcome: CallOutcome) => say('ended ' + outcome.kind));
call.on('gesture-needed', () => say('touch me'));
const start = async (): Promise<void> => {
  try {
    await call.start();
    const { microphones } = await audioDevices();
    say('open with ' + (microphones.length > 0 ? 'microphones' : 'none'));
    call.sendDigit('5');
    call.muted = true;
    off();
  } catch (error) {
    say('failed ' + (error instanceof CallFailed ? error.outcome.kind : 'otherwise'));
  }
};
if (location.hash === '#at-once') void start();
else document.addEventListener('click', start);
for (const way of ['keydown', 'given-up']) document.addEventListener(way, () => call.hangUp());
// @ts-expect-error there is no such event
call.on('finished', () => undefined);
`;

/** The same as a component. */
const component = `
import { useVoiceCall } from '@voice-agent-service/client/react';
import { createElement as h, StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';

function Call() {
  const { call, hangUp, lines, muted, needsGesture, outcome, setMuted, start, state } = useVoiceCall({ url: '/ws' });
  const said = lines.map(({ who, text, state }) => [who, text, state].join(' '));
  const facts = ['state ' + state, 'muted ' + muted, 'gesture ' + needsGesture, 'outcome ' + outcome?.kind, 'call ' + call?.state];
  const buttons = Object.entries({ start, hangUp, mute: () => setMuted(true) });
  return h('div', null, [...facts, ...said].join(', '), buttons.map(([key, onClick]) => h('button', { key, onClick }, key)));
}
function Page() {
  const [shown, show] = useState(true);
  return h('div', null, shown && h(Call), h('button', { onClick: () => show(false) }, 'leave'));
}
createRoot(document.body).render(h(StrictMode, null, h(Page)));
`;

/** A browser that starts no audio before a touch, and every track of the microphone that it has given. */
const WANTS_A_GESTURE = `
  let touched = false;
  addEventListener('pointerup', () => (touched = true), true);
  const resume = AudioContext.prototype.resume;
  AudioContext.prototype.resume = function () {
    return touched ? resume.call(this) : new Promise(() => undefined);
  };
  const devices = navigator.mediaDevices;
  const getUserMedia = devices.getUserMedia.bind(devices);
  window.tracks = [];
  devices.getUserMedia = async (wanted) => {
    const stream = await getUserMedia(wanted);
    window.tracks.push(...stream.getTracks());
    return stream;
  };
`;

const compilerOptions = { strict: true, noEmit: true, target: 'ES2022', lib: ['ES2022', 'DOM'], types: [] };

describe('the packed library', () => {
  const folder = mkdtempSync(join(tmpdir(), 'client-'));
  const at = (...parts: string[]): string => join(folder, ...parts);
  const run = (command: string, args: readonly string[], cwd = folder): string =>
    execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

  beforeAll(() => {
    run(process.execPath, [join(project, 'scripts/packages.mjs'), 'client', at('built')], project);
    mkdirSync(at('site'));
    const tarball = run('npm', ['pack', '--pack-destination', folder, '--silent'], at('built')).trim();
    writeFileSync(at('package.json'), JSON.stringify({ name: 'empty', private: true, type: 'module' }));
    run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--silent', at(tarball)]);
    writeFileSync(at('main.ts'), program);
    writeFileSync(at('component.js'), component);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('holds the library, its worklets, its types and its licence, and needs no other package', () => {
    const { dependencies = {} } = JSON.parse(
      readFileSync(at('node_modules/@voice-agent-service/client/package.json'), 'utf8'),
    ) as { dependencies?: object };
    expect(dependencies).toEqual({});
    const types = ['index', 'react', 'worklets'].map((name) => `types/client/${name}.d.ts`);
    for (const name of ['index.js', 'react.js', ...types, 'worklets.js', 'LICENSE', 'README.md'])
      expect(readFileSync(at('node_modules/@voice-agent-service/client', name), 'utf8')).not.toBe('');
  });

  it.each([
    ['NodeNext', 'NodeNext'],
    ['ESNext', 'Bundler'],
  ])('has types for projects with modules of %s and resolution of %s', (module, moduleResolution) => {
    const options = { ...compilerOptions, module, moduleResolution };
    const uses = `import { useVoiceCall, type VoiceCallHook } from '@voice-agent-service/client/react';
import '@voice-agent-service/client/widget.js';
import '@voice-agent-service/client/worklets.js';
export const hook = (): VoiceCallHook => useVoiceCall({ url: '/ws' });
export const element: HTMLElement = document.createElement('voice-agent-call');
// @ts-expect-error the hook says where a call is taken
useVoiceCall({});
`;
    writeFileSync(at('uses.ts'), uses);
    const files = ['main.ts', 'uses.ts'];
    writeFileSync(at('tsconfig.json'), JSON.stringify({ compilerOptions: options, files }));
    expect(run(process.execPath, [tsc, '-p', folder])).toBe('');
  });

  it('can be loaded by a server that renders pages', () => {
    const program = `await import('@voice-agent-service/client'); await import('@voice-agent-service/client/widget.js')`;
    expect(run(process.execPath, ['--input-type=module', '-e', program])).toBe('');
  });

  describe.skipIf(chromiumMissing !== undefined)(`in Chromium ${chromiumMissing ?? ''}`, () => {
    let service: ScriptedService;
    let chromium: ChromiumPage;

    beforeAll(async () => {
      await build({
        entryPoints: [at('main.ts'), at('component.js')],
        nodePaths: [join(project, 'node_modules')],
        ...{ bundle: true, format: 'esm', outdir: at('site'), logLevel: 'warning' },
      });
      const page = (script: string): string =>
        `<!doctype html><body>ready</body><script type="module" src="${script}.js"></script>`;
      writeFileSync(at('site/index.html'), page('main'));
      writeFileSync(at('site/component.html'), page('component'));
      writeFileSync(at('caller.wav'), callerWav());
      service = new ScriptedService(at('site'), { scripts: "'self' blob:" });
      await service.listen();
      chromium = await openChromium(at('caller.wav'));
    });

    afterAll(async () => {
      await chromium.close();
      await service.close();
    });

    const shows = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).waitFor();

    it('calls, tells what is said, sends keys and silence, and hangs up', async () => {
      const { page } = chromium;
      await page.goto(service.pageUrl);
      const arriving = service.nextCall();
      await page.mouse.click(5, 5);
      const peer = await arriving;
      await peer.start();
      await shows(page, 'open with microphones');
      expect(peer.messages[0]).toMatchObject({ type: 'start', call_id: 'mine', metadata: { plan: 'gold' } });
      expect(peer.protocols).toContain('svc-token.the-token');
      await peer.until(() => peer.has('dtmf'));
      peer.send({ type: 'user.transcript', text: 'Hi', final: false });
      peer.send({ type: 'user.text', epoch: 1, text: 'Hi there' });
      peer.send({ type: 'turn.metrics', epoch: 1, metrics: { response_ms: 640 } });
      peer.send({ type: 'clear', epoch: 2 });
      await shows(page, /you Hi\s.*you Hi there\.\s.*response 640\s.*interrupted 2/s);
      await page.keyboard.press('Escape');
      await peer.until(() => peer.has('stop'));
      peer.send({ type: 'stop', reason: 'ended' });
      await shows(page, 'ended hung-up');
    });

    it('starts at the next touch where the browser lets no page sound before one', async () => {
      const page = await chromium.browser.newPage();
      await page.addInitScript(WANTS_A_GESTURE);
      await page.goto(`${service.pageUrl}#at-once`);
      await shows(page, 'touch me');
      const arriving = service.nextCall();
      await page.mouse.click(5, 5);
      await (await arriving).start();
      await shows(page, 'open with microphones');
      await page.close();
    });

    it('gives the microphone back when it is hung up while it waits for a touch', async () => {
      const page = await chromium.browser.newPage();
      await page.addInitScript(WANTS_A_GESTURE);
      await page.goto(`${service.pageUrl}#at-once`);
      await shows(page, 'touch me');
      await page.evaluate('document.dispatchEvent(new Event("given-up"))');
      await shows(page, 'failed hung-up');
      await page.waitForFunction(
        'window.tracks.length > 0 && window.tracks.every(({ readyState }) => readyState === "ended")',
      );
      await page.close();
    });

    it('is a hook for React: one call for a component, shown while it lasts, and over with it', async () => {
      const { page } = chromium;
      await page.goto(new URL('component.html', service.pageUrl).href);
      await shows(page, 'state idle, muted false, gesture false, outcome undefined, call undefined');
      const begin = async () => {
        const arriving = service.nextCall();
        await page.getByText('start').click();
        const peer = await arriving;
        await peer.start();
        return peer;
      };
      const first = await begin();
      first.send({ type: 'user.transcript', text: 'Hi', final: false });
      await shows(page, /muted false.*caller Hi open/);
      first.send({ type: 'user.text', epoch: 1, text: 'Hi there' });
      await shows(page, 'caller Hi there done');
      await page.getByText('mute').click();
      await shows(page, 'muted true');
      await page.getByText('hangUp').click();
      await first.until(() => first.has('stop'));
      first.send({ type: 'stop', reason: 'ended' });
      await shows(page, 'state ended, muted true, gesture false, outcome hung-up');
      const second = await begin();
      await shows(page, /state listening, muted false, gesture false, outcome undefined/);
      await page.getByText('leave').click();
      await second.until(() => second.has('stop'));
    });

    it('rejects the start with the reason', async () => {
      const { page } = chromium;
      service.refuseWith = 503;
      await page.goto(service.pageUrl);
      await page.mouse.click(5, 5);
      await shows(page, 'failed busy');
    });
  });
});
