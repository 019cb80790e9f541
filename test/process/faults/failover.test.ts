/** A running service whose primaries are down: calls go on with the secondaries, and all workers know it from one. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { answer, FakeChat } from '../../support/fakes/fake-chat.ts';
import { reply, silence } from '../../support/fakes/fake-http.ts';
import { FakeMessages } from '../../support/fakes/fake-messages.ts';
import { FakeSpeech, refuse } from '../../support/fakes/fake-speech.ts';
import { FakeSttLocalWs } from '../../support/fakes/fake-stt-local-ws.ts';
import { TestService } from '../../support/process/service.ts';

let question: Int16Array;
let service: TestService;

const stt = new FakeSttLocalWs({ flavour: 'cpp' });
const llm = new FakeChat(answer('This comes from the other provider.'));
const tts = new FakeSpeech();
/** What the primaries are: they refuse everything, and ask to be left alone for a while. */
const broken = new FakeChat(reply({ status: 503, headers: { 'retry-after': '45' }, chunks: ['{}'] }));
const deafStt = new FakeSttLocalWs({ flavour: 'cpp' });

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  deafStt.refuseWith = 503;
  await Promise.all([stt, llm, tts, broken, deafStt].map((server) => server.start()));
  return () => Promise.all([stt, llm, tts, broken, deafStt].map((server) => server.close()));
});

beforeEach(() => {
  broken.requests.length = 0;
});

afterEach(async () => {
  await service.stop();
});

interface Primaries {
  readonly stt: string;
  readonly http: string;
}

const refusing = (): Primaries => ({ stt: deafStt.baseUrl, http: broken.baseUrl });

const agentText = (primaries = refusing()): string => `
[agent]
name = "test"
prompt = "You are under test."
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "${primaries.stt}"
[stt.secondary]
provider = "stt_local_ws"
[stt.secondary.stt_local_ws]
base_url = "${stt.baseUrl}"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "${primaries.http}"
model = "fake"
[llm.secondary]
provider = "chat_compatible"
[llm.secondary.chat_compatible]
base_url = "${llm.baseUrl}"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "${primaries.http}"
preset = "generic"
model = "fake"
[tts.secondary]
provider = "speech_compatible"
voice = "other"
[tts.secondary.speech_compatible]
base_url = "${tts.baseUrl}"
preset = "generic"
model = "fake"
`;

/** The caller asks and hears an answer to its end. */
async function ask(call: CallClient, words: string): Promise<void> {
  stt.utterances.push(words);
  const before = llm.requests.length;
  await call.say(question);
  await llm.until(() => llm.requests.length > before);
  expect(JSON.stringify(llm.requests.at(-1)?.body['messages'])).toContain(words);
  expect(await call.next((event) => event.type === 'mark-played')).toBeDefined();
}

/** Requests of each stage to its primary. */
const toPrimaries = (): number[] => [
  deafStt.attempts,
  broken.requests.filter(({ path }) => path.endsWith('/chat/completions')).length,
  broken.requests.filter(({ path }) => path.endsWith('/audio/speech')).length,
];

describe('primaries that are down', () => {
  it('are replaced without a word lost, and left alone by the calls of every worker', async () => {
    service = await TestService.start({ workers: 2, agentText: agentText() });
    const calls = [await service.call(), await service.call()] as const;
    const workers = await Promise.all(calls.map((call) => service.workerOf(call)));
    expect(new Set(workers).size).toBe(2);
    const [first, second] = calls;
    // One worker's call finds out.
    await ask(first, 'what time is it');
    expect(toPrimaries()[1]).toBe(1);
    const state = 'svc_provider_breaker_state{stage="llm",role="primary",provider="chat_compatible"}';
    expect(await service.metric(state)).toBe(2);
    // The other worker's call turns to the secondary at once.
    await ask(second, 'do you know it too');
    await ask(first, 'and now');
    expect(toPrimaries()[1]).toBe(1);
    // Both workers have their lines spoken as they start, before one can know it from the other.
    expect(toPrimaries()[2]).toBeLessThanOrEqual(2);
    const failovers = 'svc_provider_failovers_total{stage="llm",reason=';
    expect(await service.metric(`${failovers}"failed"}`)).toBe(1);
    expect(await service.metric(`${failovers}"breaker"}`)).toBe(2);
    expect(await service.metric('svc_stage_faults_total{stage="llm",what="failed"}')).toBe(0);
    const errors = 'svc_provider_errors_total{stage="llm",role="primary",provider="chat_compatible"';
    expect(await service.metric(`${errors},kind="rejected_server",status="5xx"}`)).toBe(1);
    const units = 'svc_provider_units_total{stage="llm",role="secondary",provider="chat_compatible"';
    expect(await service.metric(`${units},unit="output_tokens"}`)).toBe(3 * 6);
    const seconds = 'svc_provider_units_total{stage="stt",role="secondary",provider="stt_local_ws"';
    expect(await service.metric(`${seconds},unit="audio_seconds"}`)).toBeGreaterThan(5);
  });
});

describe('primaries that fall silent', () => {
  it('keep nobody waiting: the question is heard, answered and spoken by the others', async () => {
    const [silent, dumb] = [new FakeChat(silence), new FakeSttLocalWs({ flavour: 'cpp' })];
    dumb.ignoreDone = true;
    await Promise.all([silent.start(), dumb.start()]);
    service = await TestService.start({
      agentText: agentText({ stt: dumb.baseUrl, http: silent.baseUrl }),
    });
    const call = await service.call();
    dumb.utterances.push('half of it is');
    await ask(call, 'all of it is heard');
    expect(await service.metric('svc_provider_failovers_total{stage="stt",reason="failed"}')).toBe(1);
    for (const stage of ['llm', 'tts'])
      expect(
        await service.metric(`svc_provider_failovers_total{stage="${stage}",reason="hedge"}`),
      ).toBeGreaterThan(0);
    await call.hangUp();
    await Promise.all([silent.close(), dumb.close()]);
  });
});

describe('the budget of a secondary', () => {
  it('is what counts while the primary is left alone', async () => {
    const messages = new FakeMessages();
    await messages.start();
    service = await TestService.start({
      agentText: agentText().replace(
        /\[llm\.secondary\][^]*?(?=\[tts\])/,
        `[llm.secondary]
provider = "llm_messages"
api_key_env = "MESSAGES_KEY"
[llm.secondary.llm_messages]
base_url = "${messages.baseUrl}"
`,
      ),
      env: { SVC_PROVIDER_LIMITS: 'llm_messages:rpm=1', MESSAGES_KEY: 'k' },
    });
    const call = await service.call();
    const other = await service.call();
    // A key counts as a turn of its own.
    call.sendDtmf('#');
    await messages.until(() => messages.requests.length === 1);
    await service.readyWhen((body) => body['provider_budget'] === 1);
    await expect(service.call()).rejects.toThrow('503');
    await Promise.all([call.hangUp(), other.hangUp()]);
    await messages.close();
  });
});

describe('a provider without a secondary', () => {
  it('that is down for a moment, STT or TTS, ends no call: what is said then is heard and answered', async () => {
    const [ears, voice] = [new FakeSttLocalWs({ flavour: 'cpp' }), new FakeSpeech()];
    await Promise.all([ears.start(), voice.start()]);
    const alone = agentText({ stt: ears.baseUrl, http: voice.baseUrl })
      .replace(/\[(stt|tts)\.secondary\][^]*?(?=\[llm\]|$)/g, '')
      .replace(/\[llm\][^]*?(?=\[llm\.secondary\])/, '')
      .replaceAll('llm.secondary', 'llm');
    service = await TestService.start({ agentText: alone });
    const call = await service.call();
    await ears.until(() => ears.connections.length === 1);
    ears.refuseWith = 503;
    ears.last.socket.terminate();
    const before = ears.attempts;
    const heard = llm.requests.length;
    ears.utterances.push('are you still there');
    const said = call.say(question);
    // As many as it takes about two seconds to try.
    await ears.until(() => ears.attempts >= before + 4);
    ears.refuseWith = undefined;
    for (let refused = 0; refused < 5; refused += 1) voice.script.push(refuse(503));
    await said;
    await llm.until(() => llm.requests.length > heard);
    expect(JSON.stringify(llm.requests.at(-1)?.body['messages'])).toContain('are you still there');
    expect(await call.next((event) => event.type === 'mark-played')).toBeDefined();
    expect(voice.script.length).toBe(0);
    expect(await service.metric('svc_stage_faults_total{stage="stt",what="failed"}')).toBeGreaterThan(2);
    expect(await service.metric('svc_stage_faults_total{stage="tts",what="failed"}')).toBeGreaterThan(2);
    await call.hangUp();
    await Promise.all([ears.close(), voice.close()]);
  });
});
