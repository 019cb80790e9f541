// A release as strangers have it: installed by name from a registry and an index, in empty folders, and a call with each part of it.
import { createServer } from 'node:http';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, Running } from './commands.mjs';
import { startPod } from './pod.mjs';

/** Debian's, or what a runner of the forge has. */
const chromium = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));

/** An empty folder for one part, and how npm and its programs run in it. */
function projectIn(folder, env) {
  mkdirSync(folder, { recursive: true });
  const npm = (...args) => run('npm', args, { cwd: folder, env });
  const quiet = ['--no-audit', '--no-fund', '--no-save', '--prefer-offline'];
  return {
    folder,
    env,
    write: (name, text) => writeFileSync(join(folder, name), text),
    node: (...args) => run('node', args, { cwd: folder, env }),
    install: async (...packages) => {
      writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }');
      await npm('install', ...quiet, ...packages);
    },
    at: (path) => join(folder, 'node_modules', path),
  };
}

const firstExample = (readme, language) =>
  new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(readme)?.[1] ?? '';

/** The agent of the README of the TypeScript SDK; it has no types to take off. */
async function typescriptAgent({ work, env, version }) {
  const project = projectIn(join(work, 'agent'), { ...env, VOICE_AGENT_PORT: '0' });
  await project.install(`@voice-agent-service/agent@${version}`, 'zod');
  const readme = readFileSync(project.at('@voice-agent-service/agent/README.md'), 'utf8');
  project.write('hello.js', firstExample(readme, 'ts'));
  const agent = new Running('node', ['hello.js'], { cwd: project.folder, env: project.env });
  const [url] = await agent.says(/ws:\/\/127\.0\.0\.1:\d+/);
  return { agent, url, greeting: 'Ask me what time it is' };
}

/** That of the Python SDK, as its package shows it in the index. */
async function pythonAgent({ work, env, version, index }) {
  const folder = join(work, 'python');
  const python = join(folder, 'bin/python');
  await run('python3', ['-m', 'venv', folder]);
  const pip = (...args) =>
    run(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', ...args], { env });
  await pip('--no-deps', '--index-url', index, `voice-agent-service==${version}`);
  // Its packages come from where Python packages come from.
  await pip(`voice-agent-service==${version}`);
  const readme = await run(python, [
    '-c',
    "import importlib.metadata as m; print(m.metadata('voice-agent-service').get_payload())",
  ]);
  writeFileSync(join(folder, 'hello.py'), firstExample(readme, 'python'));
  const agent = new Running(python, ['-u', join(folder, 'hello.py')], {
    env: { ...env, VOICE_AGENT_PORT: '0' },
  });
  const [, port] = await agent.says(/listens on .*port (\d+)/);
  return { agent, url: `ws://127.0.0.1:${port}`, greeting: 'this is the bakery' };
}

const programOf = (version) => ['--yes', '--prefer-offline', `voice-agent-service@${version}`];

/** `npx` in an empty folder: the demo with this agent, a caller who asks, and what else is to be done while it runs. */
async function callThrough({ work, env, version }, { url, greeting }, meanwhile = async () => undefined) {
  const { folder, ...project } = projectIn(join(work, 'service'), env);
  const program = programOf(version);
  const settings = { ...env, SVC_AGENT_URL: url, SVC_WS_ORIGINS: '*' };
  const demo = new Running('npx', [...program, 'demo', '--free-ports', '--json'], {
    cwd: folder,
    env: settings,
  });
  try {
    const [line] = await demo.says(/^\{"demo":"ready".*$/);
    const ready = JSON.parse(line);
    const { tts, ws } = ready;
    const body = JSON.stringify({ model: 'flite', input: 'What time is it?', response_format: 'wav' });
    const speech = await fetch(`${tts}/audio/speech`, {
      ...{ method: 'POST', headers: { 'Content-Type': 'application/json' }, body },
    });
    project.write('question.wav', Buffer.from(await speech.arrayBuffer()));
    const call = async (url, words, ...more) => {
      const caller = [...program, 'call', 'question.wav', '--url', url, '--json', ...more];
      const { answered, timeline } = JSON.parse(await run('npx', caller, { cwd: folder, env }));
      const said = timeline.map(({ what }) => what).join(' ');
      if (answered !== true || !said.includes(words))
        throw new Error(`the call went otherwise: ${JSON.stringify(timeline)}`);
    };
    await call(ws, greeting);
    await meanwhile(ready, call);
  } finally {
    await demo.stop();
  }
}

/** The demo's agent in a pod of the chart, with the providers that run, and a call from outside with a token. */
async function callPod(given, { stt, llm, tts }, call) {
  const { work, env, version, checkout } = given;
  const agentFile = readFileSync(join(checkout, 'examples/demo/agent.toml'), 'utf8')
    .replace(/^base_url = "ws:.*$/m, `base_url = "${stt}"`)
    .replace(/^base_url = "http:.*8085.*$/m, `base_url = "${llm}"`)
    .replace(/^base_url = "http:.*8086.*$/m, `base_url = "${tts}"`);
  const program = programOf(version);
  const { service, url, secret } = await startPod(given, { agentFile, program });
  try {
    const mint = [...program, 'token', 'mint', '--aud', 'svc-ws'];
    const token = await run('npx', mint, { cwd: work, env: { ...env, SVC_SESSION_SECRET: secret } });
    await call(url, 'You can ask me', '--token', token.trim());
  } finally {
    await service.stop();
  }
}

/** A page with the library for browsers, which calls what runs, in Chromium where the machine has it. Says whether it has. */
async function callFromBrowser({ work, env, version }, { ws, greeting }) {
  if (chromium === undefined) return false;
  const project = projectIn(join(work, 'client'), env);
  await project.install(`@voice-agent-service/client@${version}`);
  project.write(
    'main.js',
    `import { VoiceCall } from '@voice-agent-service/client';
     const call = new VoiceCall({ url: new URLSearchParams(location.search).get('url') });
     for (const event of ['conversation', 'ended', 'state'])
       call.on(event, (detail) => document.body.append(JSON.stringify(detail)));
     document.onclick = () => call.start();`,
  );
  const { build } = await import('esbuild');
  const outfile = join(project.folder, 'page.js');
  await build({
    entryPoints: [join(project.folder, 'main.js')],
    bundle: true,
    format: 'esm',
    outfile,
    logLevel: 'warning',
  });
  const script = readFileSync(outfile);
  const server = createServer((request, response) => {
    const isPage = request.url !== '/page.js';
    response.setHeader('Content-Type', isPage ? 'text/html' : 'text/javascript');
    response.end(isPage ? '<!doctype html><body><script type="module" src="/page.js"></script>' : script);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { chromium: browsers } = await import('playwright-core');
  const args = ['--no-sandbox', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  const browser = await browsers.launch({ executablePath: chromium, headless: true, args });
  try {
    const shown = await browser.newPage();
    await shown.goto(`http://127.0.0.1:${server.address().port}/?url=${encodeURIComponent(ws)}`);
    await shown.mouse.click(5, 5);
    await shown.getByText(greeting).waitFor({ timeout: 60_000 });
  } finally {
    await browser.close();
    server.close();
  }
  return true;
}

/** A project of `init` passes its own check and test; where Node takes types off, that of a program, which has the SDK beside the service. */
async function beginProject({ work, env, version }) {
  const { folder } = projectIn(join(work, 'init'), env);
  const [major] = (await run('node', ['--version'], { env })).slice(1).split('.');
  const template = Number(major) > 22 ? 'typescript' : 'realtime';
  const wanted = ['init', 'desk', '--template', template];
  await run('npx', [...programOf(version), ...wanted], { cwd: folder, env });
  const cwd = join(folder, 'desk');
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], { cwd, env });
  for (const script of ['check', 'test']) await run('npm', ['run', script], { cwd, env });
}

/** The contract of stages is types and checks: a voice that never speaks does not pass them. */
async function useContract({ work, env, version }) {
  const project = projectIn(join(work, 'stage'), env);
  await project.install(`@voice-agent-service/stage@${version}`);
  project.write(
    'main.js',
    `import { voiceChecks } from '@voice-agent-service/stage/checks';
     const mute = { open: (_, tell) => ({ speak() {}, flush: (context) => queueMicrotask(() => tell({ type: 'flushed', context })), cancel() {}, close() {} }) };
     const failed = await voiceChecks[0].run(mute).catch((error) => error.message);
     console.log(voiceChecks.length > 3 && failed === 'no audio came' ? 'fine' : failed);`,
  );
  const text = (await project.node('main.js')).trim();
  if (text !== 'fine') throw new Error(`the checks of the contract: ${text}`);
}

/** Tries all of it. Resolves with what was not tried, in words. */
export async function tryRelease(given) {
  const left = [];
  const typescript = await typescriptAgent(given);
  try {
    await callThrough(given, typescript, async (demo, call) => {
      const called = await callFromBrowser(given, { ws: demo.ws, greeting: typescript.greeting });
      if (!called) left.push('neither Chromium nor Chrome is installed: no call from a page');
      await callPod(given, demo, call);
    });
  } finally {
    await typescript.agent.stop();
  }
  const python = await pythonAgent(given);
  try {
    await callThrough(given, python);
  } finally {
    await python.agent.stop();
  }
  await useContract(given);
  await beginProject(given);
  return left;
}
