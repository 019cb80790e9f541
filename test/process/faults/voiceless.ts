/** Calls to a service whose TTS, both providers of it, has no voice. */
import { loadFlite } from '../../../examples/demo/flite.ts';
import type { CallClient, CallerEvent } from '../../../cli/commands/call/caller.ts';
import { answer, FakeChat } from '../../support/fakes/fake-chat.ts';
import { FakeSttLocalWs } from '../../support/fakes/fake-stt-local-ws.ts';
import { TestService } from '../../support/process/service.ts';
import { expect, type TestContext } from 'vitest';

interface Agent {
  readonly tts: string;
  readonly agent?: string;
}

const agentText = ({ tts, agent = '', stt, llm }: Agent & Record<'stt' | 'llm', string>): string => `
[agent]
name = "test"
prompt = "You are under test."
${agent}
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "${stt}"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "${llm}"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "${tts}"
preset = "generic"
model = "fake"
[tts.secondary]
provider = "speech_compatible"
voice = "other"
[tts.secondary.speech_compatible]
base_url = "${tts}"
preset = "generic"
model = "fake"
`;

interface Line {
  readonly service: TestService;
  readonly stt: FakeSttLocalWs;
  readonly llm: FakeChat;
  readonly call: CallClient;
}

/** A call to a service of its own. */
export async function callTo(agent: Agent, { onTestFinished }: TestContext): Promise<Line> {
  const [stt, llm] = [new FakeSttLocalWs({ flavour: 'cpp' }), new FakeChat(answer('It is noon.'))];
  await Promise.all([stt.start(), llm.start()]);
  const service = await TestService.start({
    agentText: agentText({ ...agent, stt: stt.baseUrl, llm: llm.baseUrl }),
  });
  onTestFinished(async () => {
    await service.stop();
    await Promise.all([stt.close(), llm.close()]);
  });
  // With more in store than usual: a frame that a busy machine delays leaves no hole, one that is missing does.
  return { service, stt, llm, call: await service.call({ prebufferMs: 200 }) };
}

/** A line was heard to its end; other marks stand within it. */
const isPlayed = (event: CallerEvent): boolean => event.type === 'mark-played' && event.id.startsWith('m');

let spoken: Promise<Int16Array> | undefined;

const question = (): Promise<Int16Array> =>
  (spoken ??= loadFlite().then((flite) =>
    flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 }),
  ));

/** The caller asks, and hears something to its end. */
export async function ask({ call, stt, llm }: Line, text: string): Promise<void> {
  stt.utterances.push(text);
  const asked = llm.requests.length;
  await call.say(await question());
  await llm.until(() => llm.requests.length > asked);
  expect(await call.next(isPlayed)).toBeDefined();
}
